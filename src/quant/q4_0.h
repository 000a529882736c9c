// Q4_0: 32 weights of 4 bits around zero with one half-precision scale; 4.5 bits a weight.
//
//   byte 0..1   d, binary16
//   byte 2..17  byte 2 + j: weight j (low nibble), weight j + 16 (high nibble)
//
//   w[j] = d * (q[j] - 8)
#pragma once

#include "quant/half.h"
#include "quant/legacy.h"

namespace kapitsa::quant {

struct BlockQ4_0 {
  uint16_t d;
  uint8_t q[16];
};
static_assert(sizeof(BlockQ4_0) == 18);

template <>
struct Traits<Format::q4_0> {
  using Block = BlockQ4_0;
  static constexpr int kElements = 32;

  static constexpr void decode(const Block& block, float* out) {
    const float d = half_to_float(block.d);
    for (int j = 0; j < kElements; ++j) out[j] = d * static_cast<float>(low_nibble(block.q, j) - 8);
  }

  static void encode(const float* in, const float* importance, Block& block) {
    uint8_t q[32];
    block.d = encode_around(in, importance, 8, q);
    put_nibbles(q, block.q);
  }
};

}  // namespace kapitsa::quant
