// TQ1_0: 256 weights that are -d, 0 or d, five to a byte; 1.6875 bits a weight.
//
// A byte holds the levels t of five weights (the last four bytes: of four) as a fraction in base 3:
// it is (t0/3 + t1/9 + ... + t4/243) * 256, rounded up. Level n is the whole part of 3 times the
// fraction that is left after n levels; the low byte of byte * 3^n is that fraction.
//   byte  0..31   level n of byte m: weight 32n + m, n = 0..4
//   byte 32..47   level n of byte 32 + m: weight 160 + 16n + m, n = 0..4
//   byte 48..51   level n of byte 48 + m: weight 240 + 4n + m, n = 0..3
//   byte 52..53   d, binary16
//
//   w[i] = d * (t[i] - 1)
#pragma once

#include "quant/ternary.h"

namespace kapitsa::quant {

struct BlockTQ1_0 {
  uint8_t q[52];
  uint16_t d;
};
static_assert(sizeof(BlockTQ1_0) == 54);

template <>
struct Traits<Format::tq1_0> {
  using Block = BlockTQ1_0;
  static constexpr int kElements = 256;

  static constexpr void decode(const Block& block, float* out) {
    const float d = half_to_float(block.d);
    decode_part<32, 5>(block.q, d, out);
    decode_part<16, 5>(block.q + 32, d, out + 160);
    decode_part<4, 4>(block.q + 48, d, out + 240);
  }

  static void encode(const float* in, Block& block) {
    block.d = float_to_half(fit_ternary(in));
    const float d = half_to_float(block.d);
    encode_part<32, 5>(in, d, block.q);
    encode_part<16, 5>(in + 160, d, block.q + 32);
    encode_part<4, 4>(in + 240, d, block.q + 48);
  }

 private:
  template <int kBytes, int kLevels>
  static constexpr void decode_part(const uint8_t* q, float d, float* out) {
    unsigned power = 1;
    for (int n = 0; n < kLevels; ++n, power *= 3) {
      for (int m = 0; m < kBytes; ++m) {
        const int level = static_cast<int>((q[m] * power & 255) * 3 >> 8);
        out[kBytes * n + m] = d * static_cast<float>(level - 1);
      }
    }
  }

  template <int kBytes, int kLevels>
  static void encode_part(const float* in, float d, uint8_t* q) {
    for (int m = 0; m < kBytes; ++m) {
      int number = 0;
      for (int n = 0; n < 5; ++n) {
        number = 3 * number + (n < kLevels ? ternary_level(in[kBytes * n + m], d) : 0);
      }
      q[m] = static_cast<uint8_t>((number * 256 + 242) / 243);
    }
  }
};

}  // namespace kapitsa::quant
