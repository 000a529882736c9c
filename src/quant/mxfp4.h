// MXFP4: 32 weights of 4 bits (E2M1) with a power of two as scale (E8M0); 4.25 bits a weight.
//
//   byte 0      e: the scale is 2^(e - 127)
//   byte 1..16  byte 1 + j: weight j (low nibble), weight j + 16 (high nibble)
//
//   w[j] = 2^(e - 127) * value[q[j]]
//
// The OCP specification makes e = 255 NaN; the formats' own library reads it as 2^128, and so does
// this: the values above 1 overflow to infinity.
#pragma once

#include "quant/fp4.h"

namespace kapitsa::quant {

struct BlockMXFP4 {
  uint8_t e;
  uint8_t q[16];
};
static_assert(sizeof(BlockMXFP4) == 17);

template <>
struct Traits<Format::mxfp4> {
  using Block = BlockMXFP4;
  static constexpr int kElements = 32;

  // 2^(e - 128): half of the scale. The smallest two are subnormal.
  static constexpr float half_scale(uint8_t e) {
    return std::bit_cast<float>(e < 2 ? 0x00200000u << e : (uint32_t{e} - 1) << 23);
  }

  static constexpr void decode(const Block& block, float* out) {
    decode_fp4<16>(block.q, half_scale(block.e), out);
  }

  static void encode(const float* in, const float* importance, Block& block) {
    // With 2^n <= largest magnitude < 2^(n + 1), the scale 2^(n - 2) puts it between 4 and 8, where
    // 6 is the end, and 2^(n - 1) between 2 and 4.
    const uint32_t largest = std::bit_cast<uint32_t>(largest_magnitude(in, kElements));
    const int e = std::clamp(static_cast<int>(largest >> 23) - 2, 0, 253);
    block.e = static_cast<uint8_t>(fit_fp4(in, or_alike(importance), kElements, e, e + 1, half_scale));
    encode_fp4<16>(in, half_scale(block.e), block.q);
  }
};

}  // namespace kapitsa::quant
