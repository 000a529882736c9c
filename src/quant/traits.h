// What a format's header defines: a specialisation of Traits for its identifier.
//
//   template <>
//   struct Traits<Format::q4_0> {
//     using Block = BlockQ4_0;                    // the stored bytes, no padding
//     static constexpr int kElements = 32;        // weights in a block
//     static void decode(const Block& block, float* out);   // kElements floats
//     // Leave it out where the format is read only; without `importance` (may be null: all alike)
//     // where there is nothing to choose.
//     static void encode(const float* in, const float* importance, Block& block);
//   };
#pragma once

#include "quant/format.h"

namespace kapitsa::quant {

template <Format format>
struct Traits;

// `x` cut towards zero and clamped to [low, high]; NaN gives `low`, so that no input is undefined.
constexpr int to_level(float x, int low, int high) {
  if (!(x > static_cast<float>(low))) return low;
  if (x >= static_cast<float>(high)) return high;
  return static_cast<int>(x);
}

// 1 / scale, and 0 for a scale of 0: a block of equal values has no steps.
constexpr float inverse(float scale) {
  return scale == 0.0f ? 0.0f : 1.0f / scale;
}

}  // namespace kapitsa::quant
