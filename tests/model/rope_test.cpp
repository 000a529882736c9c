// RoPE's scalings against their equations, written out for single channels.
#include "model/block/rope.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace kapitsa::model {
namespace {

constexpr double kTheta = 10000;
constexpr int kChannels = 64;

double plain(int pair) { return std::pow(kTheta, -2.0 * pair / kChannels); }

TEST(Rope, LinearDividesEveryFrequency) {
  const auto rope = make_rope(kTheta, kChannels, {.kind = RopeScaling::Kind::kLinear, .factor = 4}, backend::RopePairs::kHalves);
  ASSERT_EQ(rope.inverse_frequency.size(), 32u);
  for (int i = 0; i < 32; ++i) EXPECT_DOUBLE_EQ(rope.inverse_frequency[static_cast<size_t>(i)], plain(i) / 4);
  EXPECT_EQ(rope.magnitude, 1.0f);
}

TEST(Rope, YarnKeepsWhatTurnsOftenAndDividesWhatTurnsSeldom) {
  RopeScaling s{.kind = RopeScaling::Kind::kYarn, .factor = 8, .original_context = 4096};
  s.beta_fast = 32;
  s.beta_slow = 1;
  const auto rope = make_rope(kTheta, kChannels, s, backend::RopePairs::kHalves);
  EXPECT_NEAR(rope.magnitude, 0.1 * std::log(8.0) + 1, 1e-6);
  bool between = false;
  for (int i = 0; i < 32; ++i) {
    const double f = rope.inverse_frequency[static_cast<size_t>(i)], turns = 4096 * plain(i) / (2 * std::numbers::pi);
    EXPECT_LE(f, plain(i) * (1 + 1e-12));
    EXPECT_GE(f, plain(i) / 8 * (1 - 1e-12));
    // The borders are rounded to whole pairs, outwards.
    if (turns > 32 * 1.4) {
      EXPECT_DOUBLE_EQ(f, plain(i)) << i;
    }
    if (turns < 1 / 1.4) {
      EXPECT_DOUBLE_EQ(f, plain(i) / 8) << i;
    }
    between = between || (f < plain(i) * 0.99 && f > plain(i) / 8 * 1.01);
    if (i > 0) {
      EXPECT_LT(f, rope.inverse_frequency[static_cast<size_t>(i) - 1]);
    }
  }
  EXPECT_TRUE(between);
}

TEST(Rope, AnAttentionFactorOfTheFileStandsForYarnsOwn) {
  RopeScaling s{.kind = RopeScaling::Kind::kYarn, .factor = 8, .original_context = 4096};
  s.attention_factor = 0.75;
  EXPECT_EQ(make_rope(kTheta, kChannels, s, backend::RopePairs::kHalves).magnitude, 0.75f);
}

}  // namespace
}  // namespace kapitsa::model
