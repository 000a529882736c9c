// BF16: the upper half of an IEEE 754 binary32, little-endian.
#pragma once

#include "quant/half.h"
#include "quant/traits.h"

namespace kapitsa::quant {

struct BlockBF16 {
  uint16_t bits;
};
static_assert(sizeof(BlockBF16) == 2);

template <>
struct Traits<Format::bf16> {
  using Block = BlockBF16;
  static constexpr int kElements = 1;

  static constexpr void decode(const Block& block, float* out) { *out = bf16_to_float(block.bits); }
  static constexpr void encode(const float* in, Block& block) { block.bits = float_to_bf16(*in); }
};

}  // namespace kapitsa::quant
