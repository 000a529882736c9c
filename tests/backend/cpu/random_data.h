// Random numbers for kernel tests.
#pragma once

#include <cstring>
#include <random>
#include <vector>

#include "quant/format.h"
#include "quant/half.h"

namespace kapitsa::cpu {

inline std::vector<float> random_floats(size_t count, std::mt19937& rng) {
  std::normal_distribution<float> normal;
  std::vector<float> out(count);
  for (float& x : out) x = normal(rng);
  return out;
}

// Random blocks: any codes, with scales that are finite and of a sensible size.
inline std::vector<std::byte> random_blocks(quant::Format format, int64_t count, std::mt19937& rng) {
  const auto size = static_cast<size_t>(quant::info(format).block_bytes);
  std::vector<std::byte> out(size * static_cast<size_t>(count));
  for (auto& b : out) b = static_cast<std::byte>(rng());
  const size_t d = format == quant::Format::q6_k ? 208 : 0;
  const bool two = format == quant::Format::q4_1 || format == quant::Format::q5_1 || format == quant::Format::q4_k || format == quant::Format::q5_k;
  std::uniform_real_distribution<float> scale(-0.1f, 0.1f);
  for (int64_t b = 0; b < count; ++b) {
    for (size_t field = 0; field < (two ? 2u : 1u); ++field) {
      const uint16_t half = quant::float_to_half(scale(rng));
      std::memcpy(out.data() + static_cast<size_t>(b) * size + d + 2 * field, &half, 2);
    }
  }
  return out;
}

}  // namespace kapitsa::cpu
