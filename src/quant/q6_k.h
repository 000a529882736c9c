// Q6_K: 256 weights of 6 bits around zero in 16 sub-blocks of 16, each with an 8-bit scale; 6.5625
// bits a weight.
//
// Weight i = 128h + 32s + l (h = 0..1, s = 0..3, l = 0..31):
//   byte   0..127  low four bits: nibble s / 2 of byte 64h + 32(s % 2) + l
//   byte 128..191  upper two bits: bits 2s..2s+1 of byte 128 + 32h + l
//   byte 192..207  sc, signed: sub-block i / 16
//   byte 208..209  d, binary16
//
//   w[i] = (d * sc[i / 16]) * (q[i] - 32)
#pragma once

#include "quant/fit.h"
#include "quant/half.h"
#include "quant/traits.h"

namespace kapitsa::quant {

struct BlockQ6_K {
  uint8_t low[128];
  uint8_t high[64];
  int8_t scales[16];
  uint16_t d;
};
static_assert(sizeof(BlockQ6_K) == 210);

template <>
struct Traits<Format::q6_k> {
  using Block = BlockQ6_K;
  static constexpr int kElements = 256;
  static constexpr int kGroup = 16;  // weights a scale

  // The level of weight i, 0..63.
  static constexpr int level(const Block& block, int i) {
    const int h = i >> 7;
    const int s = i >> 5 & 3;
    const int l = i & 31;
    const int low = block.low[64 * h + 32 * (s & 1) + l] >> (4 * (s >> 1)) & 15;
    const int high = block.high[32 * h + l] >> (2 * s) & 3;
    return low | high << 4;
  }

  static constexpr void decode(const Block& block, float* out) {
    const float d = half_to_float(block.d);
    for (int i = 0; i < kElements; ++i) {
      const float scale = d * static_cast<float>(block.scales[i / kGroup]);
      out[i] = scale * static_cast<float>(level(block, i) - 32);
    }
  }

  static void encode(const float* in, const float* importance, Block& block) {
    float scales[16];
    float largest = 0;
    for (int g = 0; g < 16; ++g) {
      scales[g] = fit_scale(in + g * kGroup, or_alike(part(importance, g * kGroup)), kGroup, 32);
      if (std::fabs(scales[g]) > std::fabs(largest)) largest = scales[g];
    }
    block = {};
    block.d = float_to_half(largest / -128);
    const float unit = half_to_float(block.d);
    for (int g = 0; g < 16; ++g) {
      const float stored = nearest_level(scales[g] * inverse(unit), -128, 127);
      block.scales[g] = static_cast<int8_t>(stored);
      // The levels are chosen for the scale as it will be read back.
      const float steps = inverse(unit * stored);
      for (int i = g * kGroup; i < (g + 1) * kGroup; ++i) {
        put_level(block, i, static_cast<int>(nearest_level(in[i] * steps, -32, 31)) + 32);
      }
    }
  }

 private:
  static constexpr void put_level(Block& block, int i, int q) {
    const int h = i >> 7;
    const int s = i >> 5 & 3;
    const int l = i & 31;
    block.low[64 * h + 32 * (s & 1) + l] |= static_cast<uint8_t>((q & 15) << (4 * (s >> 1)));
    block.high[32 * h + l] |= static_cast<uint8_t>((q >> 4) << (2 * s));
  }
};

}  // namespace kapitsa::quant
