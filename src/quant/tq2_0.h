// TQ2_0: 256 weights that are -d, 0 or d, two bits each; 2.0625 bits a weight.
//
//   byte  0..63   weight 128h + 32s + l: bits 2s..2s+1 of byte 32h + l (h = 0..1, s = 0..3,
//                 l = 0..31)
//   byte 64..65   d, binary16
//
//   w[i] = d * (q[i] - 1); the unused q = 3 gives 2 * d
#pragma once

#include "quant/ternary.h"

namespace kapitsa::quant {

struct BlockTQ2_0 {
  uint8_t q[64];
  uint16_t d;
};
static_assert(sizeof(BlockTQ2_0) == 66);

template <>
struct Traits<Format::tq2_0> {
  using Block = BlockTQ2_0;
  static constexpr int kElements = 256;

  static constexpr void decode(const Block& block, float* out) {
    const float d = half_to_float(block.d);
    for (int k = 0; k < 8; ++k) {
      const uint8_t* q = block.q + 32 * (k >> 2);
      const int shift = 2 * (k & 3);
      for (int l = 0; l < 32; ++l) {
        out[32 * k + l] = d * static_cast<float>((q[l] >> shift & 3) - 1);
      }
    }
  }

  static void encode(const float* in, Block& block) {
    block = {};
    block.d = float_to_half(fit_ternary(in));
    const float d = half_to_float(block.d);
    for (int k = 0; k < 8; ++k) {
      uint8_t* q = block.q + 32 * (k >> 2);
      for (int l = 0; l < 32; ++l) {
        q[l] |= static_cast<uint8_t>(ternary_level(in[32 * k + l], d) << (2 * (k & 3)));
      }
    }
  }
};

}  // namespace kapitsa::quant
