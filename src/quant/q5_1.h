// Q5_1: 32 weights of 5 bits above a minimum; 6 bits a weight.
//
//   byte 0..1   d, binary16
//   byte 2..3   m, binary16
//   byte 4..7   the fifth bits: weight j at bit j % 8 of byte 4 + j / 8
//   byte 8..23  byte 8 + j: low four bits of weight j (low nibble) and of weight j + 16 (high
//   nibble)
//
//   w[j] = d * q[j] + m
#pragma once

#include "quant/half.h"
#include "quant/legacy.h"

namespace kapitsa::quant {

struct BlockQ5_1 {
  uint16_t d;
  uint16_t m;
  uint8_t high[4];
  uint8_t q[16];
};
static_assert(sizeof(BlockQ5_1) == 24);

template <>
struct Traits<Format::q5_1> {
  using Block = BlockQ5_1;
  static constexpr int kElements = 32;

  static constexpr void decode(const Block& block, float* out) {
    const float d = half_to_float(block.d);
    const float m = half_to_float(block.m);
    for (int j = 0; j < kElements; ++j) {
      const int q = low_nibble(block.q, j) | fifth_bit(block.high, j);
      out[j] = d * static_cast<float>(q) + m;
    }
  }

  static void encode(const float* in, const float* importance, Block& block) {
    uint8_t q[32];
    const HalfAffine affine = encode_affine(in, importance, 32, q);
    block.d = affine.scale;
    block.m = affine.minimum;
    put_nibbles(q, block.q);
    put_fifth_bits(q, block.high);
  }
};

}  // namespace kapitsa::quant
