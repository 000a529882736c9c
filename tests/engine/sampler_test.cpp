#include "engine/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "engine/noise.h"

namespace kapitsa::engine {
namespace {

const std::vector<TokenId> kNoPrompt;

std::map<TokenId, int> draws(const Sampling& sampling, const std::vector<float>& logits, int count) {
  std::map<TokenId, int> counts;
  for (int i = 0; i < count; ++i) {
    Sampling s = sampling;
    s.seed = static_cast<uint64_t>(i);
    ++counts[Sampler(s, 0, std::nullopt, kNoPrompt).sample(logits, 7)->id];
  }
  return counts;
}

TEST(Sampler, GreedyTakesTheLargestAndTheLowestIdAmongEquals) {
  Sampler sampler({.temperature = 0}, 0, std::nullopt, kNoPrompt);
  EXPECT_EQ(sampler.sample(std::vector<float>{1, 5, 5, 2}, 0)->id, 1);
}

TEST(Sampler, DrawsFollowTheSoftmax) {
  const std::vector<float> logits{0, 1, 2, -1};
  const auto counts = draws({}, logits, 20000);
  double total = 0;
  for (float l : logits) total += std::exp(l);
  for (const auto& [id, count] : counts) {
    const double p = std::exp(logits[static_cast<size_t>(id)]) / total;
    // Four standard deviations.
    EXPECT_NEAR(count / 20000.0, p, 4 * std::sqrt(p * (1 - p) / 20000)) << id;
  }
}

TEST(Sampler, TemperatureSharpens) {
  const auto counts = draws({.temperature = 0.5f}, {0, 1}, 20000);
  const double p = 1 / (1 + std::exp(-2.0));
  EXPECT_NEAR(counts.at(1) / 20000.0, p, 4 * std::sqrt(p * (1 - p) / 20000));
}

TEST(Sampler, TopKTopPAndMinPCut) {
  const std::vector<float> logits{std::log(0.5f), std::log(0.3f), std::log(0.15f), std::log(0.05f)};
  EXPECT_EQ(draws({.top_k = 1}, logits, 50).size(), 1u);
  EXPECT_EQ(draws({.top_k = 2}, logits, 500).size(), 2u);
  EXPECT_EQ(draws({.top_p = 0.5f}, logits, 500).size(), 1u);
  EXPECT_EQ(draws({.top_p = 0.51f}, logits, 500).size(), 2u);
  EXPECT_EQ(draws({.top_p = 0.9f}, logits, 1000).size(), 3u);
  EXPECT_EQ(draws({.min_p = 0.5f}, logits, 500).size(), 2u);  // 0.25 and above
  EXPECT_EQ(draws({.min_p = 1.0f}, logits, 100).size(), 1u);
  // A top-k of the whole vocabulary cuts nothing, and leaves top-p its one cut.
  EXPECT_EQ(draws({.top_k = 4, .top_p = 0.51f}, logits, 500).size(), 2u);
  EXPECT_EQ(draws({.top_k = 1000000, .top_p = 0.9f}, logits, 1000).size(), 3u);
  // Top-p counts what top-k left: 0.5 of 0.8 is 0.625.
  EXPECT_EQ(draws({.top_k = 2, .top_p = 0.62f}, logits, 500).size(), 1u);
  EXPECT_EQ(draws({.top_k = 2, .top_p = 0.63f}, logits, 500).size(), 2u);
}

TEST(Sampler, FiltersEqualAFullSortOnALargeVocabulary) {
  std::mt19937 rng(5);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> logits(50000);
  for (float& l : logits) l = normal(rng);
  for (float top_p : {0.1f, 0.5f, 0.9f, 0.99f, 0.9999f}) {
    double total = 0;
    std::vector<float> sorted = logits;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    for (float l : sorted) total += std::exp(double{l} - sorted[0]);
    size_t keep = 0;
    for (double mass = 0; mass < top_p * total; ++keep) mass += std::exp(double{sorted[keep]} - sorted[0]);
    const auto counts = draws({.temperature = 1, .top_p = top_p}, logits, 300);
    for (const auto& [id, count] : counts) EXPECT_GE(logits[static_cast<size_t>(id)], sorted[keep - 1]) << top_p;
  }
}

TEST(Sampler, NoiseDependsOnSeedChoicePositionAndTokenOnly) {
  std::vector<float> flat(1000, 0.0f);
  const auto draw = [&](uint64_t seed, int choice, int position) {
    return Sampler({.seed = seed}, choice, std::nullopt, kNoPrompt).sample(flat, position)->id;
  };
  EXPECT_EQ(draw(1, 0, 5), draw(1, 0, 5));
  std::map<TokenId, int> seen;
  for (int i = 0; i < 20; ++i) {
    ++seen[draw(static_cast<uint64_t>(i), 0, 5)];
    ++seen[draw(1, i + 1, 5)];
    ++seen[draw(1, 0, i + 100)];
  }
  EXPECT_GT(seen.size(), 50u);
  // Not a call counter: earlier draws do not matter.
  Sampler twice({.seed = 1}, 0, std::nullopt, kNoPrompt);
  (void)twice.sample(flat, 4);
  EXPECT_EQ(twice.sample(flat, 5)->id, draw(1, 0, 5));
}

TEST(Sampler, Penalties) {
  const std::vector<TokenId> prompt{0};
  const Sampling greedy{.temperature = 0};
  Sampling s = greedy;
  s.repetition_penalty = 2;
  EXPECT_EQ(Sampler(s, 0, std::nullopt, prompt).sample(std::vector<float>{3, 2}, 1)->id, 1);  // 3 / 2 < 2
  EXPECT_EQ(Sampler(s, 0, std::nullopt, prompt).sample(std::vector<float>{-1, -1.5f}, 1)->id, 1);  // -1 * 2 < -1.5

  s = greedy;
  s.presence_penalty = 1;
  Sampler presence(s, 0, std::nullopt, prompt);
  const std::vector<float> close{3, 2.5f};
  EXPECT_EQ(presence.sample(close, 1)->id, 0);  // the prompt does not count
  EXPECT_EQ(presence.sample(close, 2)->id, 1);

  s = greedy;
  s.frequency_penalty = 0.3f;
  Sampler frequency(s, 0, std::nullopt, prompt);
  EXPECT_EQ(frequency.sample(close, 1)->id, 0);
  EXPECT_EQ(frequency.sample(close, 2)->id, 0);
  EXPECT_EQ(frequency.sample(close, 3)->id, 1);

  s = greedy;
  s.logit_bias = {{1, 100.0f}, {7, 5.0f}, {-3, 1.0f}};
  EXPECT_EQ(Sampler(s, 0, std::nullopt, prompt).sample(close, 1)->id, 1);
}

TEST(Sampler, LogprobsAreTheModelsOwn) {
  Sampler sampler({.temperature = 0, .logit_bias = {{0, 100.0f}}}, 0, 2, kNoPrompt);
  const auto token = *sampler.sample(std::vector<float>{0, 1, 2}, 0);
  const double total = std::exp(0.0) + std::exp(1.0) + std::exp(2.0);
  EXPECT_EQ(token.id, 0);
  EXPECT_NEAR(token.logprob, std::log(1 / total), 1e-6);
  ASSERT_EQ(token.top.size(), 2u);
  EXPECT_EQ(token.top[0].id, 2);
  EXPECT_NEAR(token.top[0].logprob, 2 - std::log(total), 1e-6);
}

TEST(Sampler, NoFiniteLogitIsAnError) {
  Sampler sampler({}, 0, std::nullopt, kNoPrompt);
  EXPECT_EQ(sampler.sample(std::vector<float>{NAN, NAN}, 3).status().code(), Code::kInternal);
  EXPECT_EQ(sampler.sample(std::vector<float>{1, NAN}, 3).status().code(), Code::kInternal);
  EXPECT_EQ(sampler.sample(std::vector<float>{-INFINITY, -INFINITY}, 3).status().code(), Code::kInternal);
}

}  // namespace
}  // namespace kapitsa::engine
