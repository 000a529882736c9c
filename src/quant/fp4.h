// What MXFP4 and NVFP4 share: weights of 4 bits, a sign, two bits of exponent and one of mantissa
// (E2M1 of the OCP microscaling formats), times a scale that is itself a short float.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "quant/fit.h"
#include "quant/traits.h"

namespace kapitsa::quant {

// Twice the value of each code: whole numbers. Scales below are halved, so that the product is the
// weight; as in the formats' own library code 8, minus zero, is plain zero.
inline constexpr float kFp4Doubled[16] = {0, 1,  2,  3,  4,  6,  8,  12,
                                          0, -1, -2, -3, -4, -6, -8, -12};

// out[j] = half_scale * twice the value of weight j: byte j of `q` holds weight j (low nibble) and
// weight j + kBytes (high nibble).
template <int kBytes>
constexpr void decode_fp4(const uint8_t* q, float half_scale, float* out) {
  float values[16] = {};
  for (int i = 0; i < 16; ++i) values[i] = half_scale * kFp4Doubled[i];
  for (int j = 0; j < kBytes; ++j) {
    out[j] = values[q[j] & 15];
    out[j + kBytes] = values[q[j] >> 4];
  }
}

// The code whose doubled value is nearest to x, of two the smaller one; NaN gives 0.
constexpr int nearest_fp4(float x) {
  const float magnitude = x < 0 ? -x : x;
  int code = 0;
  for (int i = 0; i < 7; ++i) {
    code += magnitude > (kFp4Doubled[i] + kFp4Doubled[i + 1]) / 2 ? 1 : 0;
  }
  return code != 0 && x < 0 ? code | 8 : code;
}

// The scale byte of `first`..`last` that gives `count` weights the least squared error; of equals
// the first.
template <class ToHalfScale>
int fit_fp4(const float* x, const float* w, int count, int first, int last, ToHalfScale half_scale_of) {
  int best = first;
  float best_error = INFINITY;
  for (int byte = first; byte <= last; ++byte) {
    const float half_scale = half_scale_of(static_cast<uint8_t>(byte));
    const float steps = inverse(half_scale);
    float error = 0;
    for (int j = 0; j < count; ++j) {
      const float off = half_scale * kFp4Doubled[nearest_fp4(x[j] * steps)] - x[j];
      error += w[j] * (off * off);
    }
    if (error < best_error) {
      best_error = error;
      best = byte;
    }
  }
  return best;
}

template <int kBytes>
void encode_fp4(const float* x, float half_scale, uint8_t* q) {
  const float steps = inverse(half_scale);
  for (int j = 0; j < kBytes; ++j) {
    const int high = nearest_fp4(x[j + kBytes] * steps);
    q[j] = static_cast<uint8_t>(nearest_fp4(x[j] * steps) | high << 4);
  }
}

inline float largest_magnitude(const float* x, int count) {
  float largest = 0;
  for (int j = 0; j < count; ++j) largest = std::max(largest, std::fabs(x[j]));
  return largest;
}

}  // namespace kapitsa::quant
