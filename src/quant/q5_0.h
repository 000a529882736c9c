// Q5_0: 32 weights of 5 bits around zero with one half-precision scale; 5.5 bits a weight.
//
//   byte 0..1   d, binary16
//   byte 2..5   the fifth bits: weight j at bit j % 8 of byte 2 + j / 8
//   byte 6..21  byte 6 + j: low four bits of weight j (low nibble) and of weight j + 16 (high
//   nibble)
//
//   w[j] = d * (q[j] - 16)
#pragma once

#include "quant/half.h"
#include "quant/legacy.h"

namespace kapitsa::quant {

struct BlockQ5_0 {
  uint16_t d;
  uint8_t high[4];
  uint8_t q[16];
};
static_assert(sizeof(BlockQ5_0) == 22);

template <>
struct Traits<Format::q5_0> {
  using Block = BlockQ5_0;
  static constexpr int kElements = 32;

  static constexpr void decode(const Block& block, float* out) {
    const float d = half_to_float(block.d);
    for (int j = 0; j < kElements; ++j) {
      const int q = low_nibble(block.q, j) | fifth_bit(block.high, j);
      out[j] = d * static_cast<float>(q - 16);
    }
  }

  static void encode(const float* in, const float* importance, Block& block) {
    uint8_t q[32];
    block.d = encode_around(in, importance, 16, q);
    put_nibbles(q, block.q);
    put_fifth_bits(q, block.high);
  }
};

}  // namespace kapitsa::quant
