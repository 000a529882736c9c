// IQ2_XXS: 256 weights as 32 codewords of 8 magnitudes (8 bits) with 7 bits of signs, and a 4-bit
// scale for every 32; 2.0625 bits a weight.
//
//   byte 0..1         d, binary16
//   byte 2+8g..5+8g   codewords c of weights 32g + 8l..32g + 8l + 7, l = 0..3
//   byte 6+8g..9+8g   little-endian: bits 7l..7l+6 the signs of the same weights (kEvenSigns), bits
//                     28..31 sc[g]
//
//   w[32g + 8l + j] = d * (sc[g] + 1/2) / 4 * (+-grid[c][j])
#pragma once

#include "quant/iq_grids.h"

namespace kapitsa::quant {

struct BlockIQ2_XXS {
  uint16_t d;
  uint16_t q[32];
};
static_assert(sizeof(BlockIQ2_XXS) == 66);

template <>
struct Traits<Format::iq2_xxs> {
  using Block = BlockIQ2_XXS;
  static constexpr int kElements = 256;

  static constexpr void decode(const Block& block, float* out) {
    const float d = half_to_float(block.d);
    IqWords words{};
    float scales[8] = {};
    for (int g = 0; g < 8; ++g) {
      const uint16_t* q = block.q + 4 * g;
      const uint32_t codes = q[0] | uint32_t{q[1]} << 16;
      const uint32_t rest = q[2] | uint32_t{q[3]} << 16;
      for (unsigned l = 0; l < 4; ++l) {
        const uint64_t word = kIq2XxsGrid[codes >> (8 * l) & 255];
        words[4 * g + l] = with_signs(word, kEvenSigns[rest >> (7 * l) & 127]);
      }
      scales[g] = d * (0.5f + static_cast<float>(rest >> 28)) * 0.25f;
    }
    scale_words<32>(words, scales, out);
  }
};

}  // namespace kapitsa::quant
