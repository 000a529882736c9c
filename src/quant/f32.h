// F32: IEEE 754 binary32, little-endian, as stored.
#pragma once

#include "quant/traits.h"

namespace kapitsa::quant {

struct BlockF32 {
  float value;
};
static_assert(sizeof(BlockF32) == 4);

template <>
struct Traits<Format::f32> {
  using Block = BlockF32;
  static constexpr int kElements = 1;

  static constexpr void decode(const Block& block, float* out) { *out = block.value; }
  static constexpr void encode(const float* in, Block& block) { block.value = *in; }
};

}  // namespace kapitsa::quant
