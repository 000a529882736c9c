// Q2_K: 256 weights of 2 bits in 16 sub-blocks of 16, each with a 4-bit scale and a 4-bit minimum;
// 2.625 bits a weight.
//
// Weight i = 128h + 32s + l (h = 0..1, s = 0..3, l = 0..31):
//   byte  0..15   sub-block i / 16: sc (low nibble) and m (high nibble)
//   byte 16..79   q: bits 2s..2s+1 of byte 16 + 32h + l
//   byte 80..81   d, binary16: the unit of the scales
//   byte 82..83   dmin, binary16: the unit of the minimums
//
//   w[i] = (d * sc[i / 16]) * q[i] - dmin * m[i / 16]
#pragma once

#include "quant/fit.h"
#include "quant/half.h"
#include "quant/k_two_bits.h"
#include "quant/traits.h"

namespace kapitsa::quant {

struct BlockQ2_K {
  uint8_t scales[16];
  uint8_t q[64];
  uint16_t d;
  uint16_t dmin;
};
static_assert(sizeof(BlockQ2_K) == 84);

template <>
struct Traits<Format::q2_k> {
  using Block = BlockQ2_K;
  static constexpr int kElements = 256;
  static constexpr int kGroup = 16;  // weights a scale

  static constexpr void decode(const Block& block, float* out) {
    const float d = half_to_float(block.d);
    const float dmin = half_to_float(block.dmin);
    for (int g = 0; g < 16; ++g) {
      const float scale = d * static_cast<float>(block.scales[g] & 15);
      const float minimum = dmin * static_cast<float>(block.scales[g] >> 4);
      const TwoBits place = two_bits_of_group(g);
      for (int l = 0; l < kGroup; ++l) {
        const int q = block.q[place.byte + l] >> place.shift & 3;
        out[g * kGroup + l] = scale * static_cast<float>(q) - minimum;
      }
    }
  }

  static void encode(const float* in, const float* importance, Block& block) {
    ScaleAndMinimum fits[16];
    float largest_scale = 0;
    float largest_minimum = 0;
    for (int g = 0; g < 16; ++g) {
      fits[g] = fit_scale_and_minimum(in + g * kGroup, or_alike(part(importance, g * kGroup)), kGroup, 3);
      largest_scale = std::max(largest_scale, fits[g].scale);
      largest_minimum = std::max(largest_minimum, fits[g].minimum);
    }
    block = {};
    block.d = float_to_half(largest_scale / 15);
    block.dmin = float_to_half(largest_minimum / 15);
    const float d = half_to_float(block.d);
    const float dmin = half_to_float(block.dmin);
    for (int g = 0; g < 16; ++g) {
      const float* x = in + g * kGroup;
      const Stored stored = nearest_stored(x, or_alike(part(importance, g * kGroup)), fits[g], d, dmin);
      block.scales[g] = static_cast<uint8_t>(stored.scale | stored.minimum << 4);
      const TwoBits place = two_bits_of_group(g);
      for (int l = 0; l < kGroup; ++l) {
        const int q = static_cast<int>(level(x[l], stored, d, dmin));
        block.q[place.byte + l] |= static_cast<uint8_t>(q << place.shift);
      }
    }
  }

 private:
  struct Stored {
    int scale;
    int minimum;
  };

  static float level(float x, Stored stored, float d, float dmin) {
    const float minimum = dmin * static_cast<float>(stored.minimum);
    return nearest_level((x + minimum) * inverse(d * static_cast<float>(stored.scale)), 0, 3);
  }

  // A scale and a minimum of 4 bits are coarse, so rounding each alone is not the best pair: the
  // least error of the nine pairs around that one is taken.
  static Stored nearest_stored(const float* x, const float* w, ScaleAndMinimum fit, float d, float dmin) {
    const Stored middle{static_cast<int>(nearest_level(fit.scale * inverse(d), 0, 15)),
                        static_cast<int>(nearest_level(fit.minimum * inverse(dmin), 0, 15))};
    Stored best = middle;
    float best_error = INFINITY;
    for (int n = 0; n < 9; ++n) {
      const Stored tried{std::clamp(middle.scale + n % 3 - 1, 0, 15),
                         std::clamp(middle.minimum + n / 3 - 1, 0, 15)};
      float error = 0;
      for (int l = 0; l < kGroup; ++l) {
        const float off = d * static_cast<float>(tried.scale) * level(x[l], tried, d, dmin) -
                          dmin * static_cast<float>(tried.minimum) - x[l];
        error += w[l] * (off * off);
      }
      if (error < best_error) {
        best_error = error;
        best = tried;
      }
    }
    return best;
  }
};

}  // namespace kapitsa::quant
