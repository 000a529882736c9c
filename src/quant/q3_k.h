// Q3_K: 256 weights of 3 bits around zero in 16 sub-blocks of 16, each with a 6-bit scale; 3.4375
// bits a weight.
//
// Weight i = 128h + 32s + l (h = 0..1, s = 0..3, l = 0..31), sub-block g = i / 16:
//   byte   0..31    upper bit of q: bit 4h + s of byte l
//   byte  32..95    low two bits of q: bits 2s..2s+1 of byte 32 + 32h + l
//   byte  96..103   low four bits of sc: nibble g / 8 of byte 96 + g % 8
//   byte 104..107   upper two bits of sc: bits 2(g / 4)..2(g / 4)+1 of byte 104 + g % 4
//   byte 108..109   d, binary16
//
//   w[i] = (d * (sc[g] - 32)) * (q[i] - 4)
#pragma once

#include "quant/fit.h"
#include "quant/half.h"
#include "quant/k_two_bits.h"
#include "quant/traits.h"

namespace kapitsa::quant {

struct BlockQ3_K {
  uint8_t high[32];
  uint8_t low[64];
  uint8_t scales_low[8];
  uint8_t scales_high[4];
  uint16_t d;
};
static_assert(sizeof(BlockQ3_K) == 110);

template <>
struct Traits<Format::q3_k> {
  using Block = BlockQ3_K;
  static constexpr int kElements = 256;
  static constexpr int kGroup = 16;  // weights a scale

  // The scale of sub-block g, -32..31.
  static constexpr int scale_of(const Block& block, int g) {
    const int low = block.scales_low[g & 7] >> (4 * (g >> 3)) & 15;
    const int high = block.scales_high[g & 3] >> (2 * (g >> 2)) & 3;
    return (low | high << 4) - 32;
  }

  static constexpr void decode(const Block& block, float* out) {
    const float d = half_to_float(block.d);
    for (int g = 0; g < 16; ++g) {
      const float scale = d * static_cast<float>(scale_of(block, g));
      const TwoBits place = two_bits_of_group(g);
      for (int l = 0; l < kGroup; ++l) {
        const int low = block.low[place.byte + l] >> place.shift & 3;
        const int high = block.high[16 * (g & 1) + l] >> (g >> 1) & 1;
        out[g * kGroup + l] = scale * static_cast<float>(low + 4 * high - 4);
      }
    }
  }

  static void encode(const float* in, const float* importance, Block& block) {
    float scales[16];
    float largest = 0;
    for (int g = 0; g < 16; ++g) {
      scales[g] = fit_scale(in + g * kGroup, or_alike(part(importance, g * kGroup)), kGroup, 4);
      if (std::fabs(scales[g]) > std::fabs(largest)) largest = scales[g];
    }
    block = {};
    block.d = float_to_half(largest / -32);
    const float unit = half_to_float(block.d);
    for (int g = 0; g < 16; ++g) {
      const float stored = nearest_level(scales[g] * inverse(unit), -32, 31);
      put_scale(block, g, static_cast<int>(stored) + 32);
      // The levels are chosen for the scale as it will be read back.
      const float steps = inverse(unit * stored);
      const TwoBits place = two_bits_of_group(g);
      for (int l = 0; l < kGroup; ++l) {
        const int q = static_cast<int>(nearest_level(in[g * kGroup + l] * steps, -4, 3)) + 4;
        block.low[place.byte + l] |= static_cast<uint8_t>((q & 3) << place.shift);
        block.high[16 * (g & 1) + l] |= static_cast<uint8_t>((q >> 2) << (g >> 1));
      }
    }
  }

 private:
  static constexpr void put_scale(Block& block, int g, int scale) {
    block.scales_low[g & 7] |= static_cast<uint8_t>((scale & 15) << (4 * (g >> 3)));
    block.scales_high[g & 3] |= static_cast<uint8_t>((scale >> 4) << (2 * (g >> 2)));
  }
};

}  // namespace kapitsa::quant
