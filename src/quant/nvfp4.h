// NVFP4 of GGUF: 64 weights of 4 bits (E2M1) in 4 sub-blocks of 16, each with an 8-bit float as
// scale (E4M3, its sign unused); 4.5 bits a weight. A tensor may have one more factor, which GGUF
// stores beside it and this block does not know.
//
//   byte 0..3   d[s], E4M3: the scale of sub-block s
//   byte 4..35  byte 4 + 8s + j: weight 16s + j (low nibble), weight 16s + j + 8 (high nibble)
//
//   w[16s + j] = d[s] * value[q[16s + j]]
//
// E4M3 has no infinity, and 0x7f is its NaN: as in the formats' own library it is a scale of 0.
// That library takes the other NaN, 0xff, for 480; writers clear the sign, so no file should hold
// it.
#pragma once

#include "quant/fp4.h"

namespace kapitsa::quant {

struct BlockNVFP4 {
  uint8_t d[4];
  uint8_t q[32];
};
static_assert(sizeof(BlockNVFP4) == 36);

// Half of the scale that an E4M3 byte stands for.
inline constexpr auto kHalfE4M3 = [] {
  std::array<float, 256> table{};
  for (int byte = 0; byte < 256; ++byte) {
    const int exponent = byte >> 3 & 15;
    const auto mantissa = static_cast<float>(byte & 7);
    float value = mantissa * 0x1p-9f;
    if (exponent > 0) {
      const auto power = static_cast<uint32_t>(exponent + 120) << 23;
      value = (1 + mantissa / 8) * std::bit_cast<float>(power);
    }
    table[byte] = byte == 0x7f ? 0 : value * 0.5f;
  }
  return table;
}();

template <>
struct Traits<Format::nvfp4> {
  using Block = BlockNVFP4;
  static constexpr int kElements = 64;

  static constexpr float half_scale(uint8_t d) { return kHalfE4M3[d]; }

  static constexpr void decode(const Block& block, float* out) {
    for (int s = 0; s < 4; ++s) {
      decode_fp4<8>(block.q + 8 * s, half_scale(block.d[s]), out + 16 * s);
    }
  }

  // Scales reach from 2^-9 to 448: smaller weights than about 2^-6 lose precision unless the caller
  // moves a factor out of the tensor first.
  static void encode(const float* in, const float* importance, Block& block) {
    for (int s = 0; s < 4; ++s) {
      const float* x = in + 16 * s;
      // From a scale just below the one that makes the largest magnitude 6 to one that makes it 4.
      const auto* end = kHalfE4M3.data() + 0x7f;
      const auto* at = std::lower_bound(kHalfE4M3.data() + 1, end, largest_magnitude(x, 16) / 12);
      const int first = std::clamp(static_cast<int>(at - kHalfE4M3.data()) - 2, 0, 0x7e);
      const int last = std::min(first + 8, 0x7e);
      block.d[s] = static_cast<uint8_t>(fit_fp4(x, or_alike(part(importance, 16 * s)), 16, first, last, half_scale));
      encode_fp4<8>(x, half_scale(block.d[s]), block.q + 8 * s);
    }
  }
};

}  // namespace kapitsa::quant
