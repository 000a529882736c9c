// What IQ4_NL and IQ4_XS share: 16 levels that lie closer together near zero.
#pragma once

#include <cstdint>

#include "quant/fit.h"
#include "quant/traits.h"

namespace kapitsa::quant {

inline constexpr float kIq4Levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                         1,    13,   25,  38,  53,  69,  89,  113};

// out[j] = scale * level of weight j; byte j of `q` holds weight j (low nibble) and j + 16 (high).
constexpr void decode_iq4(const uint8_t* q, float scale, float* out) {
  float values[16] = {};
  for (int i = 0; i < 16; ++i) values[i] = scale * kIq4Levels[i];
  for (int j = 0; j < 16; ++j) {
    out[j] = values[q[j] & 15];
    out[j + 16] = values[q[j] >> 4];
  }
}

// The index of the level nearest to x; NaN gives 0.
constexpr int nearest_iq4(float x) {
  int q = 0;
  for (int i = 0; i < 15; ++i) q += x > (kIq4Levels[i] + kIq4Levels[i + 1]) / 2 ? 1 : 0;
  return q;
}

// x ~ scale * level for 32 weights: the scale of least squared error among several roundings, as
// fit_scale() does for even steps. The weight of largest magnitude may be either end.
inline float fit_iq4(const float* x, const float* w) {
  float extreme = 0;
  for (int j = 0; j < 32; ++j) {
    if (std::fabs(x[j]) > std::fabs(extreme)) extreme = x[j];
  }
  if (extreme == 0) return 0;
  float best = -1;
  float scale = extreme / kIq4Levels[0];
  for (const float end : {kIq4Levels[0], kIq4Levels[15]}) {
    for (int c = 0; c < kFitCandidates; ++c) {
      const float steps = (end + 10 * fit_offset(c)) / extreme;
      float xq = 0;
      float qq = 0;
      for (int j = 0; j < 32; ++j) {
        const float q = kIq4Levels[nearest_iq4(x[j] * steps)];
        xq += w[j] * (x[j] * q);
        qq += w[j] * (q * q);
      }
      // The squared error is sum(w x^2) - xq^2 / qq.
      if (xq * xq > best * qq) {
        best = xq * xq / qq;
        scale = xq / qq;
      }
    }
  }
  return scale;
}

inline void encode_iq4(const float* x, float scale, uint8_t* out) {
  const float steps = inverse(scale);
  for (int j = 0; j < 16; ++j) {
    out[j] = static_cast<uint8_t>(nearest_iq4(x[j] * steps) | nearest_iq4(x[j + 16] * steps) << 4);
  }
}

}  // namespace kapitsa::quant
