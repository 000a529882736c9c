#include "quant/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace kapitsa::quant {
namespace {

static_assert(half_to_float(0x3c00) == 1.0f && float_to_half(-2.0f) == 0xc000);

// The definition, in double precision.
double meaning(uint16_t half) {
  const int exponent = half >> 10 & 31;
  const int mantissa = half & 1023;
  const double magnitude = exponent == 0    ? std::ldexp(mantissa, -24)
                           : exponent == 31 ? (mantissa != 0 ? std::nan("") : INFINITY)
                                            : std::ldexp(1024 + mantissa, exponent - 25);
  return half & 0x8000 ? -magnitude : magnitude;
}

TEST(Half, DecodesEveryPatternAndEncodesItBack) {
  for (uint32_t h = 0; h < 65536; ++h) {
    const auto half = static_cast<uint16_t>(h);
    const float value = half_to_float(half);
    if (std::isnan(meaning(half))) {
      EXPECT_TRUE(std::isnan(value)) << h;
      EXPECT_EQ(float_to_half(value), half | 0x200) << h;
    } else {
      EXPECT_EQ(value, meaning(half)) << h;
      EXPECT_EQ(std::signbit(value), h >> 15 == 1) << h;
      EXPECT_EQ(float_to_half(value), half) << h;
    }
  }
}

TEST(Half, RoundsToNearestAndTiesToEven) {
  for (uint16_t half = 0; half < 0x7bff; ++half) {
    const auto low = half_to_float(half);
    const auto high = half_to_float(half + 1);
    const float middle = low + (high - low) / 2;
    EXPECT_EQ(float_to_half(std::nextafter(middle, 0.0f)), half);
    EXPECT_EQ(float_to_half(middle), half % 2 == 0 ? half : half + 1);
    EXPECT_EQ(float_to_half(std::nextafter(middle, INFINITY)), half + 1);
    EXPECT_EQ(float_to_half(-middle), (half % 2 == 0 ? half : half + 1) | 0x8000);
  }
  EXPECT_EQ(float_to_half(65519.996f), 0x7bff);
  EXPECT_EQ(float_to_half(65520.0f), 0x7c00);
  EXPECT_EQ(float_to_half(std::numeric_limits<float>::max()), 0x7c00);
  EXPECT_EQ(float_to_half(-INFINITY), 0xfc00);
  EXPECT_EQ(float_to_half(std::numeric_limits<float>::denorm_min()), 0);
}

#if defined(__x86_64__)
__attribute__((target("f16c"))) float hardware_to_float(uint16_t half) {
  return _cvtsh_ss(half);
}
__attribute__((target("f16c"))) uint16_t hardware_to_half(float value) {
  return _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT);
}

TEST(Half, EqualsTheProcessorsConversion) {
  if (!__builtin_cpu_supports("f16c")) GTEST_SKIP() << "no F16C here";
  for (uint32_t h = 0; h < 65536; ++h) {
    const auto half = static_cast<uint16_t>(h);
    EXPECT_EQ(std::bit_cast<uint32_t>(half_to_float(half)),
              std::bit_cast<uint32_t>(hardware_to_float(half)));
  }
  std::mt19937 random(7);
  for (int i = 0; i < 2'000'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    ASSERT_EQ(float_to_half(value), hardware_to_half(value)) << std::bit_cast<uint32_t>(value);
  }
}
#endif

TEST(Bfloat16, RoundsToNearestEvenAndKeepsNan) {
  EXPECT_EQ(float_to_bf16(1.0f), 0x3f80);
  EXPECT_EQ(float_to_bf16(std::bit_cast<float>(0x3f808000u)), 0x3f80);
  EXPECT_EQ(float_to_bf16(std::bit_cast<float>(0x3f818000u)), 0x3f82);
  EXPECT_EQ(float_to_bf16(std::bit_cast<float>(0x3f808001u)), 0x3f81);
  EXPECT_EQ(float_to_bf16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_TRUE(std::isnan(bf16_to_float(float_to_bf16(std::bit_cast<float>(0x7f800001u)))));
}

}  // namespace
}  // namespace kapitsa::quant
