// IQ2_XS: 256 weights as 32 codewords of 8 magnitudes (9 bits) with 7 bits of signs, and a 4-bit
// scale for every 16; 2.3125 bits a weight.
//
//   byte  0..1    d, binary16
//   byte  2..65   32 little-endian words, word n for weights 8n..8n + 7: bits 0..8 the codeword c,
//                 bits 9..15 the signs (kEvenSigns)
//   byte 66..73   sc: of weights 32g..32g + 15 (low nibble of byte g), 32g + 16..32g + 31 (high)
//
//   w[8n + j] = d * (sc[n / 2] + 1/2) / 4 * (+-grid[c][j])
#pragma once

#include "quant/iq_grids.h"

namespace kapitsa::quant {

struct BlockIQ2_XS {
  uint16_t d;
  uint16_t q[32];
  uint8_t scales[8];
};
static_assert(sizeof(BlockIQ2_XS) == 74);

template <>
struct Traits<Format::iq2_xs> {
  using Block = BlockIQ2_XS;
  static constexpr int kElements = 256;

  static constexpr void decode(const Block& block, float* out) {
    const float d = half_to_float(block.d);
    IqWords words{};
    float scales[16] = {};
    for (int k = 0; k < 16; ++k) {
      const int sc = block.scales[k >> 1] >> (4 * (k & 1)) & 15;
      scales[k] = d * (0.5f + static_cast<float>(sc)) * 0.25f;
      for (int l = 0; l < 2; ++l) {
        const uint16_t q = block.q[2 * k + l];
        words[2 * k + l] = with_signs(kIq2XsGrid[q & 511], kEvenSigns[q >> 9]);
      }
    }
    scale_words<16>(words, scales, out);
  }
};

}  // namespace kapitsa::quant
