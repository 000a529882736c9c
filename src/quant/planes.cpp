#include "quant/planes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "quant/fp4.h"
#include "quant/half.h"
#include "quant/nvfp4.h"

namespace kapitsa::quant {
namespace {

using Code = Planes::Code;
using Scale = Planes::Scale;

constexpr auto kFp4 = [] {
  std::array<float, 16> table{};
  for (int i = 0; i < 16; ++i) table[i] = kFp4Doubled[i] * 0.5f;
  table[8] = -0.0f;
  return table;
}();

constexpr auto kFp8 = [] {
  std::array<float, 256> table{};
  for (int i = 0; i < 128; ++i) {
    table[i] = i == 0x7f ? std::numeric_limits<float>::quiet_NaN() : kHalfE4M3[i] * 2;
    table[i + 128] = -table[i];
  }
  return table;
}();

float scale_at(Scale type, const std::byte* at) {
  uint16_t half = 0;
  float whole = 0;
  switch (type) {
    case Scale::kNone: return 1;
    case Scale::kF32: std::memcpy(&whole, at, 4); return whole;
    case Scale::kF16: std::memcpy(&half, at, 2); return half_to_float(half);
    case Scale::kBF16: std::memcpy(&half, at, 2); return bf16_to_float(half);
    case Scale::kE4M3: return kFp8[static_cast<uint8_t>(*at)];
    case Scale::kE8M0: break;
  }
  const auto e = static_cast<uint32_t>(*at);
  if (e == 255) return std::numeric_limits<float>::quiet_NaN();
  return std::bit_cast<float>(e == 0 ? 0x00400000u : e << 23);
}

// Code `index` of a row, wherever it lies.
uint32_t code_at(const std::byte* row, int bits, int64_t index) {
  const int64_t bit = index * bits;
  uint32_t word = static_cast<uint32_t>(row[bit / 8]);
  if (bit % 8 + bits > 8) word |= static_cast<uint32_t>(row[bit / 8 + 1]) << 8;
  return word >> (bit % 8) & ((1u << bits) - 1);
}

// The values of `count` codes from `column` on; `value_of` turns a code into a float.
template <int kBits, class ValueOf>
void each_code(const std::byte* row, int64_t column, int64_t count, float* out, ValueOf value_of) {
  int64_t done = 0;
  if (column % 8 == 0) {
    // Eight codes fill kBits bytes.
    for (; done + 8 <= count; done += 8) {
      uint64_t word = 0;
      std::memcpy(&word, row + (column + done) / 8 * kBits, kBits);
      for (int j = 0; j < 8; ++j) out[done + j] = value_of(static_cast<uint32_t>(word >> (j * kBits)) & ((1u << kBits) - 1));
    }
  }
  for (; done < count; ++done) out[done] = value_of(code_at(row, kBits, column + done));
}

template <class ValueOf>
void each_code(int bits, const std::byte* row, int64_t column, int64_t count, float* out, ValueOf value_of) {
  switch (bits) {
    case 2: return each_code<2>(row, column, count, out, value_of);
    case 3: return each_code<3>(row, column, count, out, value_of);
    case 4: return each_code<4>(row, column, count, out, value_of);
    case 5: return each_code<5>(row, column, count, out, value_of);
    case 6: return each_code<6>(row, column, count, out, value_of);
    default: return each_code<8>(row, column, count, out, value_of);
  }
}

// One group: the same scale and bias throughout.
void decode_group(const Planes& p, const std::byte* row, int64_t column, int64_t count, float scale, float bias, float* out) {
  switch (p.code) {
    case Code::kUnsigned:
      each_code(p.bits, row, column, count, out, [=, offset = p.offset](uint32_t c) { return scale * static_cast<float>(static_cast<int>(c) - offset) + bias; });
      break;
    case Code::kTwosComplement:
      each_code(p.bits, row, column, count, out, [=, half = 1u << (p.bits - 1)](uint32_t c) {
        return scale * static_cast<float>(static_cast<int>(c ^ half) - static_cast<int>(half)) + bias;
      });
      break;
    case Code::kFp4:
      each_code<4>(row, column, count, out, [=](uint32_t c) { return scale * kFp4[c]; });
      break;
    case Code::kFp8:
      each_code<8>(row, column, count, out, [=](uint32_t c) { return scale * kFp8[c]; });
      break;
  }
}

}  // namespace

size_t scale_bytes(Scale scale) {
  switch (scale) {
    case Scale::kNone: return 0;
    case Scale::kF32: return 4;
    case Scale::kF16:
    case Scale::kBF16: return 2;
    default: return 1;
  }
}

Planes Planes::matrix(int64_t index, int64_t rows) const {
  Planes out = *this;
  const size_t code_bytes = static_cast<size_t>(rows) * row_bytes();
  const size_t scale_plane = static_cast<size_t>(scale_count(rows) * groups()) * scale_bytes(scale);
  out.codes = codes.subspan(static_cast<size_t>(index) * code_bytes, code_bytes);
  if (!scales.empty()) out.scales = scales.subspan(static_cast<size_t>(index) * scale_plane, scale_plane);
  if (!biases.empty()) out.biases = biases.subspan(static_cast<size_t>(index) * scale_plane, scale_plane);
  return out;
}

Planes Planes::from(int64_t row) const {
  Planes out = *this;
  out.first += row;
  return out;
}

void Planes::decode(int64_t row, int64_t column, int64_t count, float* out) const {
  row += first;
  const std::byte* codes_of_row = codes.data() + static_cast<size_t>(row) * row_bytes();
  const size_t size = scale_bytes(scale);
  const size_t scale_row = static_cast<size_t>(scale_rows == 0 ? 0 : row / scale_rows * groups());
  while (count > 0) {
    const int64_t g = column / group, n = std::min(count, (g + 1) * group - column);
    const size_t at = (scale_row + static_cast<size_t>(g)) * size;
    float s = scales.empty() ? 1 : scale_at(scale, scales.data() + at);
    if (factor != 1) s = static_cast<float>(s * factor);
    decode_group(*this, codes_of_row, column, n, s, biases.empty() ? 0 : scale_at(scale, biases.data() + at), out);
    column += n;
    count -= n;
    out += n;
  }
}

std::string Planes::name() const {
  if (code == Code::kFp4) return scale == Scale::kE8M0 ? "MXFP4" : "NVFP4";
  if (code == Code::kFp8) return scale == Scale::kE8M0 ? "MXFP8" : "FP8";
  const std::string groups = group < columns ? fmt::format(" g{}", group) : "";
  return fmt::format("{}-bit {}{}", bits, biases.empty() ? "integer" : "affine", groups);
}

}  // namespace kapitsa::quant
