#include "quant/format.h"

#include <gtest/gtest.h>

#include <cmath>
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

// Root mean square error of a round trip, as a share of the values' own.
double relative_error(Format format, const std::vector<float>& values) {
  const FormatInfo& f = info(format);
  std::vector<std::byte> blocks(row_bytes(format, values.size()));
  std::vector<float> back(values.size());
  f.encode(values.data(), values.size() / f.block_elements, blocks.data());
  decode_row(format, blocks.data(), values.size(), back.data());
  double error = 0;
  double power = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    error += std::pow(static_cast<double>(back[i]) - values[i], 2);
    power += std::pow(static_cast<double>(values[i]), 2);
  }
  return power == 0 ? std::sqrt(error) : std::sqrt(error / power);
}

TEST(Encode, KeepsGaussianWeightsAsCloseAsTheBitsAllow) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, 0.02f);
  std::vector<float> values(256 * 200);
  for (float& value : values) value = normal(random);

  const std::pair<Format, double> bounds[] = {
      {Format::f32, 0},      {Format::f16, 3e-4},   {Format::bf16, 2e-3},  {Format::q8_0, 6e-3},
      {Format::q4_0, 0.095}, {Format::q4_1, 0.085}, {Format::q5_0, 0.047}, {Format::q5_1, 0.042},
      {Format::q4_k, 0.075}, {Format::q5_k, 0.038}, {Format::q6_k, 0.020}};
  for (const auto& [format, bound] : bounds) {
    const double error = relative_error(format, values);
    EXPECT_LE(error, bound) << info(format).name;
    RecordProperty(std::string(info(format).name), std::to_string(error));
  }
}

TEST(Encode, TakesDegenerateBlocks) {
  for (Format format : kAll) {
    EXPECT_EQ(relative_error(format, std::vector<float>(256, 0.0f)), 0) << info(format).name;
    for (float value : {1.0f, -1.0f, 3e-3f}) {
      EXPECT_LE(relative_error(format, std::vector<float>(256, value)), 0.02) << info(format).name;
    }
    std::vector<float> one(256, 0.0f);
    one[77] = -0.5f;
    EXPECT_LE(relative_error(format, one), 0.02) << info(format).name;
  }
}

// What a caller feeds may hold anything; the bytes must stay defined (the sanitizers watch).
TEST(Encode, SurvivesNanAndInfinity) {
  for (Format format : kAll) {
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
