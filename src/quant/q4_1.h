// Q4_1: 32 weights of 4 bits above a minimum; 5 bits a weight.
//
//   byte 0..1   d, binary16
//   byte 2..3   m, binary16
//   byte 4..19  byte 4 + j: weight j (low nibble), weight j + 16 (high nibble)
//
//   w[j] = d * q[j] + m
#pragma once

#include "quant/half.h"
#include "quant/legacy.h"

namespace kapitsa::quant {

struct BlockQ4_1 {
  uint16_t d;
  uint16_t m;
  uint8_t q[16];
};
static_assert(sizeof(BlockQ4_1) == 20);

template <>
struct Traits<Format::q4_1> {
  using Block = BlockQ4_1;
  static constexpr int kElements = 32;

  static constexpr void decode(const Block& block, float* out) {
    const float d = half_to_float(block.d);
    const float m = half_to_float(block.m);
    for (int j = 0; j < kElements; ++j) {
      out[j] = d * static_cast<float>(low_nibble(block.q, j)) + m;
    }
  }

  static void encode(const float* in, const float* importance, Block& block) {
    uint8_t q[32];
    const HalfAffine affine = encode_affine(in, importance, 16, q);
    block.d = affine.scale;
    block.m = affine.minimum;
    put_nibbles(q, block.q);
  }
};

}  // namespace kapitsa::quant
