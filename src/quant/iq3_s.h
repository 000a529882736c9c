// IQ3_S: 256 weights as 64 codewords of 4 magnitudes (9 bits) with 4 signs, and a 4-bit scale for
// every 32; 3.4375 bits a weight.
//
// Codeword n = 8g + k (g = 0..7, k = 0..7) gives weights 4n..4n + 3:
//   byte   0..1     d, binary16
//   byte   2..65    low eight bits of codeword c: byte 2 + n
//   byte  66..73    ninth bit of c: bit k of byte 66 + g
//   byte  74..105   signs, weight i at bit i % 8 of byte 74 + i / 8
//   byte 106..109   sc: of weights 64p..64p + 31 (low nibble of byte 106 + p), 64p + 32..64p + 63
//                   (high)
//
//   w[4n + j] = d * (2 * sc[n / 8] + 1) * (+-grid[c][j])
#pragma once

#include "quant/iq_grids.h"

namespace kapitsa::quant {

struct BlockIQ3_S {
  uint16_t d;
  uint8_t low[64];
  uint8_t high[8];
  uint8_t signs[32];
  uint8_t scales[4];
};
static_assert(sizeof(BlockIQ3_S) == 110);

template <>
struct Traits<Format::iq3_s> {
  using Block = BlockIQ3_S;
  static constexpr int kElements = 256;

  static constexpr void decode(const Block& block, float* out) {
    const float d = half_to_float(block.d);
    IqWords words{};
    float scales[8] = {};
    for (int g = 0; g < 8; ++g) {
      const unsigned high = block.high[g];
      for (unsigned l = 0; l < 4; ++l) {
        const uint8_t* low = block.low + 8 * g + 2 * l;
        const unsigned first = low[0] | (high >> (2 * l) & 1) << 8;
        const unsigned second = low[1] | (high >> (2 * l + 1) & 1) << 8;
        const uint64_t word = joined(kIq3SGrid[first], kIq3SGrid[second]);
        words[4 * g + l] = with_signs(word, block.signs[4 * g + l]);
      }
      const int sc = block.scales[g >> 1] >> (4 * (g & 1)) & 15;
      scales[g] = d * static_cast<float>(1 + 2 * sc);
    }
    scale_words<32>(words, scales, out);
  }
};

}  // namespace kapitsa::quant
