// Q8_0: 32 weights of 8 bits with one half-precision scale; 8.5 bits a weight.
//
//   byte  0..1   d, binary16
//   byte  2..33  q, signed, one byte a weight
//
//   w[j] = q[j] * d
#pragma once

#include <cmath>

#include "quant/half.h"
#include "quant/traits.h"

namespace kapitsa::quant {

struct BlockQ8_0 {
  uint16_t d;
  int8_t q[32];
};
static_assert(sizeof(BlockQ8_0) == 34);

template <>
struct Traits<Format::q8_0> {
  using Block = BlockQ8_0;
  static constexpr int kElements = 32;

  static constexpr void decode(const Block& block, float* out) {
    const float d = half_to_float(block.d);
    for (int j = 0; j < kElements; ++j) out[j] = static_cast<float>(block.q[j]) * d;
  }

  // The largest magnitude becomes 127; halves round away from zero.
  static void encode(const float* in, Block& block) {
    float largest = 0;
    for (int j = 0; j < kElements; ++j) largest = std::max(largest, std::fabs(in[j]));
    const float d = largest / 127;
    const float steps = inverse(d);
    block.d = float_to_half(d);
    for (int j = 0; j < kElements; ++j) {
      block.q[j] = static_cast<int8_t>(to_level(std::round(in[j] * steps), -127, 127));
    }
  }
};

}  // namespace kapitsa::quant
