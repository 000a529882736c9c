// Q5_K: 256 weights of 5 bits in 8 sub-blocks of 32, each with its own scale and minimum; 5.5 bits
// a weight.
//
//   byte  0..1    d, binary16: the unit of the scales
//   byte  2..3    dmin, binary16: the unit of the minimums
//   byte  4..15   8 scales sc and 8 minimums m of 6 bits (sub_scale() in k_affine.h)
//   byte 16..47   the fifth bits: weight 32k + l at bit k of byte 16 + l
//   byte 48..175  the low four bits: byte 48 + 32p + l: weight 64p + l (low nibble), 64p + 32 + l
//   (high)
//
//   w[32k + l] = (d * sc[k]) * q[32k + l] - dmin * m[k]
#pragma once

#include "quant/k_affine.h"

namespace kapitsa::quant {

struct BlockQ5_K {
  uint16_t d;
  uint16_t dmin;
  uint8_t scales[12];
  uint8_t high[32];
  uint8_t q[128];
};
static_assert(sizeof(BlockQ5_K) == 176);

template <>
struct Traits<Format::q5_k> {
  using Block = BlockQ5_K;
  static constexpr int kElements = 256;

  static constexpr void decode(const Block& block, float* out) {
    const float d = half_to_float(block.d);
    const float dmin = half_to_float(block.dmin);
    for (int k = 0; k < kSubBlocks; ++k) {
      const SubScale pair = sub_scale(block.scales, k);
      const float scale = d * static_cast<float>(pair.scale);
      const float minimum = dmin * static_cast<float>(pair.minimum);
      for (int l = 0; l < kSubBlock; ++l) {
        const int q = k_nibble(block.q, k, l) | (block.high[l] >> k & 1) << 4;
        out[k * kSubBlock + l] = scale * static_cast<float>(q) - minimum;
      }
    }
  }

  static void encode(const float* in, const float* importance, Block& block) {
    uint8_t levels[256];
    encode_k_affine(in, importance, 31, block.d, block.dmin, block.scales, levels);
    put_k_nibbles(levels, block.q);
    for (int l = 0; l < 32; ++l) {
      uint8_t bits = 0;
      for (int k = 0; k < kSubBlocks; ++k) bits |= (levels[32 * k + l] >> 4) << k;
      block.high[l] = bits;
    }
  }
};

}  // namespace kapitsa::quant
