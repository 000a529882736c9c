#include "quant/format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "quant/formats.h"

namespace kapitsa::quant {
namespace {

constexpr Format kAll[] = {
#define KAPITSA_FORMAT(id, name, gguf) Format::id,
#include "quant/formats.def"
#undef KAPITSA_FORMAT
};

// The formats that this build can write.
std::vector<Format> written() {
  std::vector<Format> formats;
  for (Format format : kAll) {
    if (info(format).encode) formats.push_back(format);
  }
  return formats;
}

TEST(FormatTable, FindsEachFormatByNameAndByType) {
  for (Format format : kAll) {
    const FormatInfo& f = info(format);
    EXPECT_EQ(from_name(f.name), format);
    EXPECT_EQ(from_gguf_type(static_cast<uint32_t>(f.gguf_type)), format);
    EXPECT_EQ(row_bytes(format, 512), 512 / f.block_elements * static_cast<size_t>(f.block_bytes));
  }
  EXPECT_EQ(from_name("Q9_9"), std::nullopt);
  EXPECT_EQ(from_gguf_type(4), std::nullopt);
  EXPECT_EQ(from_gguf_type(0xffffffffu), std::nullopt);
  EXPECT_EQ(row_bytes(Format::q4_k, 255), 0u);
  EXPECT_DOUBLE_EQ(info(Format::q4_k).bits_per_weight(), 4.5);
  EXPECT_DOUBLE_EQ(info(Format::q6_k).bits_per_weight(), 6.5625);
}

std::vector<float> round_trip(Format format, const std::vector<float>& values) {
  const FormatInfo& f = info(format);
  std::vector<std::byte> blocks(row_bytes(format, values.size()));
  std::vector<float> back(values.size());
  f.encode(values.data(), nullptr, values.size() / f.block_elements, blocks.data());
  decode_row(format, blocks.data(), values.size(), back.data());
  return back;
}

// Root mean square error of a round trip, as a share of the values' own.
double relative_error(Format format, const std::vector<float>& values) {
  const std::vector<float> back = round_trip(format, values);
  double error = 0;
  double power = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    error += std::pow(static_cast<double>(back[i]) - values[i], 2);
    power += std::pow(static_cast<double>(values[i]), 2);
  }
  return power == 0 ? std::sqrt(error) : std::sqrt(error / power);
}

std::vector<float> gaussian(float deviation) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, deviation);
  std::vector<float> values(256 * 200);
  for (float& value : values) value = normal(random);
  return values;
}

// Of the formats from Q2_K on: a twentieth above what was measured. (0.436 is the least that
// ternary weights with one scale allow.)
TEST(Encode, KeepsGaussianWeightsAsCloseAsTheBitsAllow) {
  const std::vector<float> values = gaussian(0.02f);
  const std::pair<Format, double> bounds[] = {
      {Format::f32, 0},      {Format::f16, 3e-4},   {Format::bf16, 2e-3},  {Format::q8_0, 6e-3},
      {Format::q4_0, 0.095}, {Format::q4_1, 0.085}, {Format::q5_0, 0.047}, {Format::q5_1, 0.042},
      {Format::q4_k, 0.075}, {Format::q5_k, 0.038}, {Format::q6_k, 0.020},
      {Format::q2_k, 0.277}, {Format::q3_k, 0.150},  {Format::iq4_nl, 0.077},
      {Format::iq4_xs, 0.078}, {Format::tq1_0, 0.455}, {Format::tq2_0, 0.455},
      {Format::mxfp4, 0.117}, {Format::nvfp4, 0.0935}};
  EXPECT_EQ(std::size(bounds), written().size());
  for (const auto& [format, bound] : bounds) {
    const double error = relative_error(format, values);
    EXPECT_LE(error, bound) << info(format).name;
    RecordProperty(std::string(info(format).name), std::to_string(error));
  }
  // NVFP4's scales begin at 2^-9, too coarse for the weights above: a tensor's factor is for that.
  EXPECT_LE(relative_error(Format::nvfp4, gaussian(1)), 0.0855);
}

// Weights that a format already holds come back as they were: requantising does not wear them down.
// Where scales are themselves levels of a unit, another unit may fit as well, and a few move by
// one.
TEST(Encode, KeepsWhatTheFormatHolds) {
  const std::map<Format, double> moved = {{Format::q5_k, 1.4e-4},
                                          {Format::q2_k, 0.024},
                                          {Format::q3_k, 5.6e-4},
                                          {Format::iq4_xs, 1.6e-3}};
  for (Format format : written()) {
    const std::vector<float> once = round_trip(format, gaussian(0.02f));
    const auto bound = moved.find(format);
    EXPECT_LE(relative_error(format, once), bound == moved.end() ? 0 : bound->second)
        << info(format).name;
  }
}

// The sum of importance * (error squared), for an encoder that knows the importance and for one that does not.
TEST(Encode, PutsPrecisionWhereTheImportanceIs) {
  const std::vector<float> values = gaussian(0.02f);
  std::mt19937 random(5);
  std::lognormal_distribution<float> skewed(0, 2);
  std::vector<float> importance(values.size());
  for (float& one : importance) one = skewed(random);
  const auto error = [&](Format format, const float* told) {
    const FormatInfo& f = info(format);
    std::vector<std::byte> blocks(row_bytes(format, values.size()));
    std::vector<float> back(values.size());
    f.encode(values.data(), told, values.size() / f.block_elements, blocks.data());
    decode_row(format, blocks.data(), values.size(), back.data());
    double sum = 0;
    for (size_t i = 0; i < values.size(); ++i) sum += importance[i] * std::pow(static_cast<double>(back[i]) - values[i], 2);
    return sum;
  };
  for (const Format format : {Format::q4_0, Format::q4_1, Format::q5_0, Format::q5_1, Format::q2_k, Format::q3_k, Format::q4_k,
                              Format::q5_k, Format::q6_k, Format::iq4_nl, Format::iq4_xs, Format::mxfp4, Format::nvfp4}) {
    const double bound = format == Format::mxfp4 ? 0.98 : 0.65;  // MXFP4 has only powers of two to choose from
    EXPECT_LT(error(format, importance.data()), bound * error(format, nullptr)) << info(format).name;
    RecordProperty(std::string(info(format).name), std::to_string(error(format, importance.data()) / error(format, nullptr)));
  }
}

TEST(Encode, TakesImportanceOfZero) {
  const std::vector<float> values = gaussian(0.02f), none(256, 0.0f);
  for (Format format : written()) {
    const FormatInfo& f = info(format);
    std::vector<std::byte> blocks(row_bytes(format, 256));
    std::vector<float> back(256);
    f.encode(values.data(), none.data(), 256 / f.block_elements, blocks.data());
    decode_row(format, blocks.data(), 256, back.data());
    for (const float x : back) EXPECT_TRUE(std::isfinite(x)) << f.name;
  }
}

TEST(Encode, TakesDegenerateBlocks) {
  for (Format format : written()) {
    // 3e-3 is 1.536 * 2^-9, between two values of a 4-bit float; IQ4 has no level for zero.
    const bool fp4 = format == Format::mxfp4 || format == Format::nvfp4;
    const bool iq4 = format == Format::iq4_nl || format == Format::iq4_xs;
    const double bound = iq4 ? 0.045 : fp4 ? 0.025 : 0.02;
    EXPECT_EQ(relative_error(format, std::vector<float>(256, 0.0f)), 0) << info(format).name;
    for (float value : {1.0f, -1.0f, 3e-3f}) {
      EXPECT_LE(relative_error(format, std::vector<float>(256, value)), bound) << info(format).name;
    }
    std::vector<float> one(256, 0.0f);
    one[77] = -0.5f;
    EXPECT_LE(relative_error(format, one), bound) << info(format).name;
  }
}

// What a caller feeds may hold anything; the bytes must stay defined (the sanitizers watch).
TEST(Encode, SurvivesNanAndInfinity) {
  for (Format format : written()) {
    std::vector<float> values(256, 0.25f);
    values[3] = NAN;
    values[40] = INFINITY;
    values[90] = -INFINITY;
    values[130] = 3e38f;
    values[170] = 1e-42f;
    relative_error(format, values);
    relative_error(format, std::vector<float>(256, NAN));
    relative_error(format, std::vector<float>(256, 1e-44f));
  }
}

TEST(Decode, ReadsFromAnyAddress) {
  for (Format format : kAll) {
    const FormatInfo& f = info(format);
    std::vector<std::byte> bytes(static_cast<size_t>(f.block_bytes) * 2 + 1, std::byte{0x11});
    std::vector<float> aligned(f.block_elements);
    std::vector<float> shifted(f.block_elements);
    f.decode(bytes.data(), 1, aligned.data());
    f.decode(bytes.data() + 1, 1, shifted.data());
    EXPECT_EQ(aligned, shifted) << f.name;
  }
}

// A kernel may decode at compile time.
constexpr float first_of_constant_block() {
  BlockQ4_K block{};
  block.d = 0x3c00;
  block.scales[0] = 3;
  block.q[0] = 5;
  float out[256] = {};
  Traits<Format::q4_k>::decode(block, out);
  return out[0];
}
static_assert(first_of_constant_block() == 15.0f);

}  // namespace
}  // namespace kapitsa::quant
