// How the K formats are encoded: for a sub-block of weights, the scale (and minimum) of least
// squared error among several roundings. Each candidate rounds to levels at a slightly different
// step, then takes the best scale for those levels in closed form.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

namespace kapitsa::quant {

// `x` to the nearest whole level of [low, high], which lie within +-2^22; NaN gives `low`.
// Adding 1.5 * 2^23, whose last place is 1, makes the float unit round; no call is needed.
inline float nearest_level(float x, float low, float high) {
  constexpr float kWhole = 12582912.0f;
  const float level = std::min(std::max(low, x), high);
  return (level + kWhole) - kWhole;
}

inline constexpr int kFitCandidates = 21;  // steps from one level fewer to one level more than fit

inline float fit_offset(int candidate) {
  return static_cast<float>(candidate - 10) * 0.1f;
}

// Importance where nobody gives one.
inline constexpr auto kAllAlike = [] {
  std::array<float, 256> ones{};
  ones.fill(1);
  return ones;
}();
inline const float* or_alike(const float* importance) {
  return importance ? importance : kAllAlike.data();
}
// Of the sub-block that begins at weight `at`.
inline const float* part(const float* importance, int at) {
  return importance ? importance + at : nullptr;
}

// x ~ scale * q with q in [-half, half - 1]; `w` weighs the squared errors.
inline float fit_scale(const float* x, const float* w, int count, int half) {
  float extreme = 0;
  for (int j = 0; j < count; ++j) {
    if (std::fabs(x[j]) > std::fabs(extreme)) extreme = x[j];
  }
  if (extreme == 0) return 0;
  const auto low = static_cast<float>(-half);
  const auto high = static_cast<float>(half - 1);
  float best = -1;
  float scale = extreme / low;
  for (int c = 0; c < kFitCandidates; ++c) {
    const float steps = (low - fit_offset(c)) / extreme;
    float xq = 0;
    float qq = 0;
    for (int j = 0; j < count; ++j) {
      const float q = nearest_level(x[j] * steps, low, high);
      xq += w[j] * (x[j] * q);
      qq += w[j] * (q * q);
    }
    // The squared error is sum(w x^2) - xq^2 / qq.
    if (qq > 0 && xq * xq > best * qq) {
      best = xq * xq / qq;
      scale = xq / qq;
    }
  }
  return scale;
}

// x ~ scale * q - minimum with q in [0, top], scale >= 0 and minimum >= 0, or of either sign where it is `free`.
struct ScaleAndMinimum {
  float scale = 0;
  float minimum = 0;
};
inline ScaleAndMinimum fit_scale_and_minimum(const float* x, const float* w, int count, int top,
                                             bool free = false) {
  float low = free ? x[0] : 0;
  float high = low;
  float sum_x = 0;
  float n = 0;
  for (int j = 0; j < count; ++j) {
    low = std::min(low, x[j]);
    high = std::max(high, x[j]);
    sum_x += w[j] * x[j];
    n += w[j];
  }
  if (!(high > low)) return {};
  const auto limit = static_cast<float>(top);
  ScaleAndMinimum best{(high - low) / limit, -low};
  double best_error = INFINITY;
  for (int c = 0; c < kFitCandidates; ++c) {
    const float steps = (limit + fit_offset(c)) / (high - low);
    float q_sum = 0;
    float qq = 0;
    float xq = 0;
    for (int j = 0; j < count; ++j) {
      const float q = nearest_level((x[j] - low) * steps, 0, limit);
      q_sum += w[j] * q;
      qq += w[j] * (q * q);
      xq += w[j] * (x[j] * q);
    }
    const float determinant = n * qq - q_sum * q_sum;
    if (!(determinant > 0)) continue;
    float scale = (n * xq - q_sum * sum_x) / determinant;
    float minimum = (q_sum * xq - qq * sum_x) / determinant;
    if (minimum < 0 && !free) {
      minimum = 0;
      scale = qq > 0 ? xq / qq : 0;
    }
    // The squared error less sum(w x^2), which all candidates share.
    const double error =
        double{scale} * (double{scale} * qq - 2.0 * xq - 2.0 * double{minimum} * q_sum) +
        double{minimum} * (double{minimum} * n + 2.0 * sum_x);
    if (scale > 0 && error < best_error) {
      best_error = error;
      best = {scale, minimum};
    }
  }
  return best;
}

}  // namespace kapitsa::quant
