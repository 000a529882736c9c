// IQ4_XS: 256 weights of 4 bits, each the number of an uneven level, in 8 sub-blocks of 32, each
// with a 6-bit scale; 4.25 bits a weight.
//
//   byte 0..1    d, binary16
//   byte 2..3    upper two bits of sc[g]: bits 2g..2g+1 of the little-endian word, g = 0..7
//   byte 4..7    low four bits of sc[g]: nibble g % 2 of byte 4 + g / 2
//   byte 8..135  byte 8 + 16g + j: weight 32g + j (low nibble), weight 32g + j + 16 (high nibble)
//
//   w[32g + j] = (d * (sc[g] - 32)) * level[q[32g + j]]
#pragma once

#include "quant/half.h"
#include "quant/iq4.h"

namespace kapitsa::quant {

struct BlockIQ4_XS {
  uint16_t d;
  uint16_t scales_high;
  uint8_t scales_low[4];
  uint8_t q[128];
};
static_assert(sizeof(BlockIQ4_XS) == 136);

template <>
struct Traits<Format::iq4_xs> {
  using Block = BlockIQ4_XS;
  static constexpr int kElements = 256;
  static constexpr int kGroup = 32;  // weights a scale

  // The scale of sub-block g, -32..31.
  static constexpr int scale_of(const Block& block, int g) {
    const int low = block.scales_low[g >> 1] >> (4 * (g & 1)) & 15;
    const int high = block.scales_high >> (2 * g) & 3;
    return (low | high << 4) - 32;
  }

  static constexpr void decode(const Block& block, float* out) {
    const float d = half_to_float(block.d);
    for (int g = 0; g < 8; ++g) {
      decode_iq4(block.q + 16 * g, d * static_cast<float>(scale_of(block, g)), out + kGroup * g);
    }
  }

  static void encode(const float* in, const float* importance, Block& block) {
    float scales[8];
    float largest = 0;
    for (int g = 0; g < 8; ++g) {
      scales[g] = fit_iq4(in + g * kGroup, or_alike(part(importance, g * kGroup)));
      if (std::fabs(scales[g]) > std::fabs(largest)) largest = scales[g];
    }
    block = {};
    block.d = float_to_half(largest / -32);
    const float unit = half_to_float(block.d);
    for (int g = 0; g < 8; ++g) {
      const float stored = nearest_level(scales[g] * inverse(unit), -32, 31);
      const int scale = static_cast<int>(stored) + 32;
      block.scales_low[g >> 1] |= static_cast<uint8_t>((scale & 15) << (4 * (g & 1)));
      block.scales_high |= static_cast<uint16_t>((scale >> 4) << (2 * g));
      // The levels are chosen for the scale as it will be read back.
      encode_iq4(in + g * kGroup, unit * stored, block.q + 16 * g);
    }
  }
};

}  // namespace kapitsa::quant
