// IQ1_S: 256 weights as 32 codewords of 8 values from -1, 0, 1 (11 bits), and a 3-bit scale and a
// shift for every 32; 1.5625 bits a weight.
//
//   byte  0..1    d, binary16
//   byte  2..33   low eight bits of codeword c of weights 8n..8n + 7: byte 2 + n
//   byte 34..49   little-endian word g: bits 3l..3l+2 the upper bits of c for n = 4g + l, bits
//                 12..14 sc[g], bit 15 set: the shift s[g] is -1/8, else +1/8
//
//   w[8n + j] = d * (2 * sc[n / 4] + 1) * (grid[c][j] + s[n / 4])
#pragma once

#include "quant/iq_grids.h"

namespace kapitsa::quant {

struct BlockIQ1_S {
  uint16_t d;
  uint8_t low[32];
  uint16_t high[8];
};
static_assert(sizeof(BlockIQ1_S) == 50);

template <>
struct Traits<Format::iq1_s> {
  using Block = BlockIQ1_S;
  static constexpr int kElements = 256;

  static constexpr void decode(const Block& block, float* out) {
    const float d = half_to_float(block.d);
    IqWords words{};
    float scales[8] = {};
    for (int g = 0; g < 8; ++g) {
      const unsigned high = block.high[g];
      for (int l = 0; l < 4; ++l) {
        const unsigned index = block.low[4 * g + l] | (high >> (3 * l) & 7) << 8;
        words[4 * g + l] = iq1_shifted(kIq1Grid[index], (high & 0x8000u) != 0);
      }
      scales[g] = d * static_cast<float>(2 * (high >> 12 & 7) + 1) * 0.125f;
    }
    scale_words<32, kIq1Zero>(words, scales, out);
  }
};

}  // namespace kapitsa::quant
