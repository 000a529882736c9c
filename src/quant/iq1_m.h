// IQ1_M: 256 weights as 32 codewords of 8 values from -1, 0, 1 (11 bits) with a shift each, and a
// 3-bit scale for every 16; 1.75 bits a weight.
//
// Codeword n gives weights 8n..8n + 7:
//   byte  0..31   low eight bits of codeword c: byte n
//   byte 32..47   nibble n % 2 of byte 32 + n / 2: bits 0..2 the upper bits of c, bit 3 set: the
//                 shift s[n] is -1/8, else +1/8
//   byte 48..55   4 little-endian words: bits 3k..3k+2 of word p are sc[4p + k], k = 0..3; bits
//                 12..15 are bits 4p..4p+3 of d, binary16
//
//   w[8n + j] = d * (2 * sc[n / 2] + 1) * (grid[c][j] + s[n])
#pragma once

#include "quant/iq_grids.h"

namespace kapitsa::quant {

struct BlockIQ1_M {
  uint8_t low[32];
  uint8_t high[16];
  uint16_t scales[4];
};
static_assert(sizeof(BlockIQ1_M) == 56);

template <>
struct Traits<Format::iq1_m> {
  using Block = BlockIQ1_M;
  static constexpr int kElements = 256;

  static constexpr void decode(const Block& block, float* out) {
    unsigned bits = 0;
    for (int p = 0; p < 4; ++p) bits |= unsigned{block.scales[p]} >> 12 << (4 * p);
    const float d = half_to_float(static_cast<uint16_t>(bits));
    IqWords words{};
    float scales[16] = {};
    for (int k = 0; k < 16; ++k) {
      for (int l = 0; l < 2; ++l) {
        const unsigned high = block.high[k] >> (4 * l);
        const unsigned index = block.low[2 * k + l] | (high & 7) << 8;
        words[2 * k + l] = iq1_shifted(kIq1Grid[index], (high & 8) != 0);
      }
      const int sc = block.scales[k >> 2] >> (3 * (k & 3)) & 7;
      scales[k] = d * static_cast<float>(2 * sc + 1) * 0.125f;
    }
    scale_words<16, kIq1Zero>(words, scales, out);
  }
};

}  // namespace kapitsa::quant
