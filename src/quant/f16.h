// F16: IEEE 754 binary16, little-endian: 1 sign, 5 exponent and 10 mantissa bits.
#pragma once

#include "quant/half.h"
#include "quant/traits.h"

namespace kapitsa::quant {

struct BlockF16 {
  uint16_t bits;
};
static_assert(sizeof(BlockF16) == 2);

template <>
struct Traits<Format::f16> {
  using Block = BlockF16;
  static constexpr int kElements = 1;

  static constexpr void decode(const Block& block, float* out) { *out = half_to_float(block.bits); }
  static constexpr void encode(const float* in, Block& block) { block.bits = float_to_half(*in); }
};

}  // namespace kapitsa::quant
