// IQ3_XXS: 256 weights as 64 codewords of 4 magnitudes (8 bits) with 7 bits of signs for every 8,
// and a 4-bit scale for every 32; 3.0625 bits a weight.
//
//   byte  0..1    d, binary16
//   byte  2..65   codeword c of weights 4n..4n + 3: byte 2 + n
//   byte 66..97   8 little-endian words: bits 7l..7l+6 of word g the signs of weights
//                 32g + 8l..32g + 8l + 7 (kEvenSigns), l = 0..3; bits 28..31 sc[g]
//
//   w[4n + j] = d * (sc[n / 8] + 1/2) / 2 * (+-grid[c][j])
#pragma once

#include "quant/iq_grids.h"

namespace kapitsa::quant {

struct BlockIQ3_XXS {
  uint16_t d;
  uint8_t q[64];
  uint16_t signs[16];
};
static_assert(sizeof(BlockIQ3_XXS) == 98);

template <>
struct Traits<Format::iq3_xxs> {
  using Block = BlockIQ3_XXS;
  static constexpr int kElements = 256;

  static constexpr void decode(const Block& block, float* out) {
    const float d = half_to_float(block.d);
    IqWords words{};
    float scales[8] = {};
    for (int g = 0; g < 8; ++g) {
      const uint32_t rest = block.signs[2 * g] | uint32_t{block.signs[2 * g + 1]} << 16;
      for (unsigned l = 0; l < 4; ++l) {
        const uint8_t* q = block.q + 8 * g + 2 * l;
        const uint64_t word = joined(kIq3XxsGrid[q[0]], kIq3XxsGrid[q[1]]);
        words[4 * g + l] = with_signs(word, kEvenSigns[rest >> (7 * l) & 127]);
      }
      scales[g] = d * (0.5f + static_cast<float>(rest >> 28)) * 0.5f;
    }
    scale_words<32>(words, scales, out);
  }
};

}  // namespace kapitsa::quant
