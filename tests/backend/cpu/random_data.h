// Random numbers for kernel tests.
#pragma once

#include <cstring>
#include <random>
#include <vector>

#include "quant/format.h"
#include "quant/half.h"

namespace kapitsa::cpu {

inline std::vector<float> random_floats(size_t count, std::mt19937& rng) {
  std::normal_distribution<float> normal;
  std::vector<float> out(count);
  for (float& x : out) x = normal(rng);
  return out;
}

// Where a format's blocks hold half-precision numbers; -1 where they hold fewer than two.
struct HalfFields {
  int first = -1, second = -1;
};
inline HalfFields half_fields(quant::Format format) {
  using quant::Format;
  switch (format) {
    case Format::q4_1: case Format::q5_1: case Format::q4_k: case Format::q5_k: return {0, 2};
    case Format::q2_k: return {80, 82};
    case Format::q3_k: return {108};
    case Format::q6_k: return {208};
    case Format::tq1_0: return {52};
    case Format::tq2_0: return {64};
    case Format::f32: case Format::bf16: case Format::iq1_m: case Format::mxfp4: case Format::nvfp4: return {};
    default: return {0};
  }
}

// Random blocks: any codes, with scales that are finite and of a sensible size.
inline std::vector<std::byte> random_blocks(quant::Format format, int64_t count, std::mt19937& rng) {
  using quant::Format;
  const auto size = static_cast<size_t>(quant::info(format).block_bytes);
  std::vector<std::byte> out(size * static_cast<size_t>(count));
  for (auto& b : out) b = static_cast<std::byte>(rng());
  std::uniform_real_distribution<float> scale(-0.1f, 0.1f);
  const HalfFields fields = half_fields(format);
  for (int64_t b = 0; b < count; ++b) {
    std::byte* block = out.data() + static_cast<size_t>(b) * size;
    for (const int at : {fields.first, fields.second}) {
      if (at < 0) continue;
      const uint16_t half = quant::float_to_half(scale(rng));
      std::memcpy(block + at, &half, 2);
    }
    if (format == Format::f32 || format == Format::bf16) {  // the upper half of a float is a bfloat16
      const uint16_t bits = quant::float_to_bf16(scale(rng));
      std::memcpy(block + size - 2, &bits, 2);
    }
    if (format == Format::iq1_m) block[55] = (block[55] & std::byte{0x0f}) | std::byte{0x20};  // d's top nibble
    if (format == Format::mxfp4) block[0] = static_cast<std::byte>(120 + rng() % 8);
    if (format == Format::nvfp4) {
      for (int s = 0; s < 4; ++s) block[s] = static_cast<std::byte>(rng() % 0x40);
    }
  }
  return out;
}

}  // namespace kapitsa::cpu
