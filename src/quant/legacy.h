// What Q4_0, Q4_1, Q5_0 and Q5_1 share: how a block of 32 weights is scaled and its bits are laid
// out.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "quant/fit.h"
#include "quant/half.h"
#include "quant/traits.h"

namespace kapitsa::quant {

// The low four bits of weight j of 32: byte j holds weight j (low nibble) and weight j + 16 (high).
constexpr int low_nibble(const uint8_t (&bytes)[16], int j) {
  return j < 16 ? bytes[j] & 15 : bytes[j - 16] >> 4;
}

// The fifth bit of weight j, at its place: bit j % 8 of byte j / 8.
constexpr int fifth_bit(const uint8_t (&bytes)[4], int j) {
  return (bytes[j >> 3] >> (j & 7) & 1) << 4;
}

inline void put_nibbles(const uint8_t (&q)[32], uint8_t (&bytes)[16]) {
  for (int j = 0; j < 16; ++j) {
    bytes[j] = static_cast<uint8_t>((q[j] & 15) | (q[j + 16] & 15) << 4);
  }
}

inline void put_fifth_bits(const uint8_t (&q)[32], uint8_t (&bytes)[4]) {
  std::fill_n(bytes, 4, uint8_t{0});
  for (int j = 0; j < 32; ++j) bytes[j >> 3] |= static_cast<uint8_t>((q[j] >> 4) << (j & 7));
}

// Levels 0..2*half-1 around `half`, scaled so that the value of largest magnitude (the first of
// equals) is exactly level 0. Returns the scale.
inline float encode_around(const float* in, int half, uint8_t (&q)[32]) {
  float extreme = in[0];
  for (int j = 1; j < 32; ++j) {
    if (std::fabs(in[j]) > std::fabs(extreme)) extreme = in[j];
  }
  const float d = extreme / static_cast<float>(-half);
  const float steps = inverse(d);
  const float middle = static_cast<float>(half) + 0.5f;
  for (int j = 0; j < 32; ++j) {
    q[j] = static_cast<uint8_t>(to_level(in[j] * steps + middle, 0, 2 * half - 1));
  }
  return d;
}

// The same with the scale of least weighted error; returns it as half precision keeps it.
inline uint16_t encode_around(const float* in, const float* importance, int half, uint8_t (&q)[32]) {
  if (!importance) return float_to_half(encode_around(in, half, q));
  const uint16_t d = float_to_half(fit_scale(in, importance, 32, half));
  const float steps = inverse(half_to_float(d));
  const auto limit = static_cast<float>(half);
  for (int j = 0; j < 32; ++j) q[j] = static_cast<uint8_t>(nearest_level(in[j] * steps, -limit, limit - 1) + limit);
  return d;
}

// Levels 0..levels-1 from the smallest value up to the largest one.
struct Affine {
  float scale;
  float minimum;
};
inline Affine encode_from_minimum(const float* in, int levels, uint8_t (&q)[32]) {
  const auto [low, high] = std::minmax_element(in, in + 32);
  const float minimum = *low;
  const float d = (*high - minimum) / static_cast<float>(levels - 1);
  const float steps = inverse(d);
  for (int j = 0; j < 32; ++j) {
    q[j] = static_cast<uint8_t>(to_level((in[j] - minimum) * steps + 0.5f, 0, levels - 1));
  }
  return {d, minimum};
}

// The same with the scale and minimum of least weighted error; returns them as half precision keeps
// them.
struct HalfAffine {
  uint16_t scale;
  uint16_t minimum;
};
inline HalfAffine encode_affine(const float* in, const float* importance, int levels, uint8_t (&q)[32]) {
  if (!importance) {
    const Affine plain = encode_from_minimum(in, levels, q);
    return {float_to_half(plain.scale), float_to_half(plain.minimum)};
  }
  const ScaleAndMinimum fit = fit_scale_and_minimum(in, importance, 32, levels - 1, true);
  const HalfAffine out{float_to_half(fit.scale), float_to_half(-fit.minimum)};
  const float steps = inverse(half_to_float(out.scale));
  const float minimum = half_to_float(out.minimum);
  for (int j = 0; j < 32; ++j) q[j] = static_cast<uint8_t>(nearest_level((in[j] - minimum) * steps, 0, static_cast<float>(levels - 1)));
  return out;
}

}  // namespace kapitsa::quant
