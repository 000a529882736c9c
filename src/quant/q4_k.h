// Q4_K: 256 weights of 4 bits in 8 sub-blocks of 32, each with its own scale and minimum; 4.5 bits
// a weight.
//
//   byte  0..1    d, binary16: the unit of the scales
//   byte  2..3    dmin, binary16: the unit of the minimums
//   byte  4..15   8 scales sc and 8 minimums m of 6 bits (sub_scale() in k_affine.h)
//   byte 16..143  byte 16 + 32p + l: weight 64p + l (low nibble), weight 64p + 32 + l (high nibble)
//
//   w[32k + l] = (d * sc[k]) * q[32k + l] - dmin * m[k]
#pragma once

#include "quant/k_affine.h"

namespace kapitsa::quant {

struct BlockQ4_K {
  uint16_t d;
  uint16_t dmin;
  uint8_t scales[12];
  uint8_t q[128];
};
static_assert(sizeof(BlockQ4_K) == 144);

template <>
struct Traits<Format::q4_k> {
  using Block = BlockQ4_K;
  static constexpr int kElements = 256;

  static constexpr void decode(const Block& block, float* out) {
    const float d = half_to_float(block.d);
    const float dmin = half_to_float(block.dmin);
    for (int k = 0; k < kSubBlocks; ++k) {
      const SubScale pair = sub_scale(block.scales, k);
      const float scale = d * static_cast<float>(pair.scale);
      const float minimum = dmin * static_cast<float>(pair.minimum);
      for (int l = 0; l < kSubBlock; ++l) {
        out[k * kSubBlock + l] = scale * static_cast<float>(k_nibble(block.q, k, l)) - minimum;
      }
    }
  }

  static void encode(const float* in, const float* importance, Block& block) {
    uint8_t levels[256];
    encode_k_affine(in, importance, 15, block.d, block.dmin, block.scales, levels);
    put_k_nibbles(levels, block.q);
  }
};

}  // namespace kapitsa::quant
