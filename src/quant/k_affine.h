// What Q4_K and Q5_K share: 256 weights in 8 sub-blocks of 32, each with a 6-bit scale and a 6-bit
// minimum, packed into 12 bytes.
#pragma once

#include <cstdint>

#include "quant/fit.h"
#include "quant/half.h"
#include "quant/traits.h"

namespace kapitsa::quant {

inline constexpr int kSubBlocks = 8;
inline constexpr int kSubBlock = 32;

struct SubScale {
  int scale;
  int minimum;
};

// The 6-bit pair of sub-block k. The 12 bytes S hold, for k < 4, scale k in the low six bits of
// S[k] and minimum k in those of S[k + 4]; for k >= 4 the low four bits of both in S[k + 4] (scale
// low, minimum high) and their upper two bits in the top of S[k - 4] and S[k].
constexpr SubScale sub_scale(const uint8_t (&s)[12], int k) {
  if (k < 4) return {s[k] & 63, s[k + 4] & 63};
  return {(s[k + 4] & 15) | (s[k - 4] >> 6) << 4, (s[k + 4] >> 4) | (s[k] >> 6) << 4};
}

constexpr void put_sub_scales(const SubScale (&pairs)[kSubBlocks], uint8_t (&s)[12]) {
  for (int k = 0; k < 4; ++k) {
    const SubScale low = pairs[k];
    const SubScale high = pairs[k + 4];
    s[k] = static_cast<uint8_t>(low.scale | (high.scale >> 4) << 6);
    s[k + 4] = static_cast<uint8_t>(low.minimum | (high.minimum >> 4) << 6);
    s[k + 8] = static_cast<uint8_t>((high.scale & 15) | (high.minimum & 15) << 4);
  }
}

// Weight i's low four bits: sub-blocks 2p and 2p + 1 are the low and high nibbles of bytes
// 32p..32p+31.
constexpr int k_nibble(const uint8_t (&q)[128], int k, int l) {
  return q[32 * (k >> 1) + l] >> (4 * (k & 1)) & 15;
}

// Encodes the scales of a block of 256 and its levels, 0..top, one a byte of `q`.
inline void encode_k_affine(const float* in, const float* importance, int top, uint16_t& d, uint16_t& dmin, uint8_t (&s)[12],
                            uint8_t (&q)[256]) {
  ScaleAndMinimum fits[kSubBlocks];
  float largest_scale = 0;
  float largest_minimum = 0;
  for (int k = 0; k < kSubBlocks; ++k) {
    fits[k] = fit_scale_and_minimum(in + k * kSubBlock, or_alike(part(importance, k * kSubBlock)), kSubBlock, top);
    largest_scale = std::max(largest_scale, fits[k].scale);
    largest_minimum = std::max(largest_minimum, fits[k].minimum);
  }
  d = float_to_half(largest_scale / 63);
  dmin = float_to_half(largest_minimum / 63);
  const float scale_unit = half_to_float(d);
  const float minimum_unit = half_to_float(dmin);

  SubScale pairs[kSubBlocks];
  for (int k = 0; k < kSubBlocks; ++k) {
    pairs[k].scale = static_cast<int>(nearest_level(fits[k].scale * inverse(scale_unit), 0, 63));
    pairs[k].minimum =
        static_cast<int>(nearest_level(fits[k].minimum * inverse(minimum_unit), 0, 63));
    // The levels are chosen for the scales as they will be read back.
    const float steps = inverse(scale_unit * static_cast<float>(pairs[k].scale));
    const float minimum = minimum_unit * static_cast<float>(pairs[k].minimum);
    for (int l = 0; l < kSubBlock; ++l) {
      const int i = k * kSubBlock + l;
      q[i] = static_cast<uint8_t>(
          nearest_level((in[i] + minimum) * steps, 0, static_cast<float>(top)));
    }
  }
  put_sub_scales(pairs, s);
}

inline void put_k_nibbles(const uint8_t (&levels)[256], uint8_t (&q)[128]) {
  for (int p = 0; p < 4; ++p) {
    for (int l = 0; l < 32; ++l) {
      q[32 * p + l] =
          static_cast<uint8_t>((levels[64 * p + l] & 15) | (levels[64 * p + 32 + l] & 15) << 4);
    }
  }
}

}  // namespace kapitsa::quant
