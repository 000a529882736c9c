// IQ2_S: 256 weights as 32 codewords of 8 magnitudes (10 bits) with 8 signs, and a 4-bit scale for
// every 16; 2.5625 bits a weight.
//
// Codeword n = 4g + l (g = 0..7, l = 0..3) gives weights 8n..8n + 7:
//   byte  0..1    d, binary16
//   byte  2..33   low eight bits of codeword c: byte 2 + n
//   byte 34..65   signs, weight 8n + j at bit j of byte 34 + n
//   byte 66..73   upper two bits of c: bits 2l..2l+1 of byte 66 + g
//   byte 74..81   sc: of weights 32g..32g + 15 (low nibble of byte 74 + g) and 32g + 16..32g + 31
//                 (high nibble)
//
//   w[8n + j] = d * (sc[n / 2] + 1/2) / 4 * (+-grid[c][j])
#pragma once

#include "quant/iq_grids.h"

namespace kapitsa::quant {

struct BlockIQ2_S {
  uint16_t d;
  uint8_t low[32];
  uint8_t signs[32];
  uint8_t high[8];
  uint8_t scales[8];
};
static_assert(sizeof(BlockIQ2_S) == 82);

template <>
struct Traits<Format::iq2_s> {
  using Block = BlockIQ2_S;
  static constexpr int kElements = 256;

  static constexpr void decode(const Block& block, float* out) {
    const float d = half_to_float(block.d);
    IqWords words{};
    float scales[16] = {};
    for (int k = 0; k < 16; ++k) {
      const int sc = block.scales[k >> 1] >> (4 * (k & 1)) & 15;
      scales[k] = d * (0.5f + static_cast<float>(sc)) * 0.25f;
      const unsigned high = block.high[k >> 1] >> (4 * (k & 1));
      for (int l = 0; l < 2; ++l) {
        const unsigned index = block.low[2 * k + l] | (high >> (2 * l) & 3) << 8;
        words[2 * k + l] = with_signs(kIq2SGrid[index], block.signs[2 * k + l]);
      }
    }
    scale_words<16>(words, scales, out);
  }
};

}  // namespace kapitsa::quant
