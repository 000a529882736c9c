// IQ4_NL: 32 weights of 4 bits, each the number of an uneven level, with one half-precision scale;
// 4.5 bits a weight.
//
//   byte 0..1   d, binary16
//   byte 2..17  byte 2 + j: weight j (low nibble), weight j + 16 (high nibble)
//
//   w[j] = d * level[q[j]]
#pragma once

#include "quant/half.h"
#include "quant/iq4.h"

namespace kapitsa::quant {

struct BlockIQ4_NL {
  uint16_t d;
  uint8_t q[16];
};
static_assert(sizeof(BlockIQ4_NL) == 18);

template <>
struct Traits<Format::iq4_nl> {
  using Block = BlockIQ4_NL;
  static constexpr int kElements = 32;

  static constexpr void decode(const Block& block, float* out) {
    decode_iq4(block.q, half_to_float(block.d), out);
  }

  static void encode(const float* in, const float* importance, Block& block) {
    block.d = float_to_half(fit_iq4(in, or_alike(importance)));
    encode_iq4(in, half_to_float(block.d), block.q);
  }
};

}  // namespace kapitsa::quant
