// What TQ1_0 and TQ2_0 share: 256 weights that are -d, 0 or d.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>

#include "quant/half.h"
#include "quant/traits.h"

namespace kapitsa::quant {

// The d of least squared error. With the k largest magnitudes, of sum S, rounded to d and the
// others to 0, the best d is S / k, and its error is sum(x^2) - S^2 / k: the best k is looked up.
// Weights that are ternary already keep their d.
inline float fit_ternary(const float* x) {
  float magnitudes[256];
  for (int i = 0; i < 256; ++i) {
    const float magnitude = std::fabs(x[i]);
    magnitudes[i] = magnitude > 0 ? magnitude : 0;  // NaN too: it could not be sorted
  }
  std::sort(magnitudes, magnitudes + 256, std::greater<>());
  double sum = 0;
  double best = 0;
  double d = 0;
  for (int k = 1; k <= 256; ++k) {
    sum += magnitudes[k - 1];
    if (sum * sum > best * k) {
      best = sum * sum / k;
      d = sum / k;
    }
  }
  return static_cast<float>(d);
}

// The level of x, 0..2 for -d, 0 and d; NaN gives 1.
inline int ternary_level(float x, float d) {
  return 1 + (x > d / 2 ? 1 : 0) - (x < d / -2 ? 1 : 0);
}

}  // namespace kapitsa::quant
