#include "engine/sampler.h"

#include <algorithm>
#include <cmath>

#include "engine/noise.h"

namespace kapitsa::engine {

Sampler::Sampler(const Sampling& sampling, int choice, std::optional<int> logprobs, std::span<const TokenId> prompt)
    : sampling_(sampling), choice_(choice), logprobs_(logprobs) {
  if (sampling_.repetition_penalty != 1.0f) {
    for (TokenId id : prompt) seen_[id] = true;
  }
}

bool Sampler::penalised() const {
  return sampling_.repetition_penalty != 1.0f || sampling_.presence_penalty != 0.0f || sampling_.frequency_penalty != 0.0f ||
         !sampling_.logit_bias.empty();
}

void Sampler::penalise(std::vector<float>& logits) const {
  const auto inside = [&](TokenId id) { return id >= 0 && static_cast<size_t>(id) < logits.size(); };
  for (const auto& [id, yes] : seen_) {
    if (!inside(id)) continue;
    float& logit = logits[static_cast<size_t>(id)];
    logit = logit > 0 ? logit / sampling_.repetition_penalty : logit * sampling_.repetition_penalty;
  }
  for (const auto& [id, count] : generated_) {
    logits[static_cast<size_t>(id)] -= sampling_.presence_penalty + sampling_.frequency_penalty * static_cast<float>(count);
  }
  for (const auto& [id, bias] : sampling_.logit_bias) {
    if (inside(id)) logits[static_cast<size_t>(id)] += bias;
  }
}

std::span<const Sampler::Candidate> Sampler::filter(std::span<const float> logits) {
  const auto likelier = [](const Candidate& a, const Candidate& b) { return a.logit > b.logit || (a.logit == b.logit && a.id < b.id); };
  const float largest = *std::max_element(logits.begin(), logits.end());
  const float temperature = sampling_.temperature;
  const auto weight = [&](float logit) { return std::exp(double{logit - largest} / temperature); };
  const auto collect = [&](float above) {
    candidates_.clear();
    for (size_t i = 0; i < logits.size(); ++i) {
      if (logits[i] >= above) candidates_.push_back({static_cast<TokenId>(i), logits[i]});
    }
  };

  const bool cut_k = sampling_.top_k > 0 && static_cast<size_t>(sampling_.top_k) < logits.size();
  if (cut_k) {
    collect(-INFINITY);
    const auto k = std::min(static_cast<size_t>(sampling_.top_k), candidates_.size());
    std::nth_element(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(k) - 1, candidates_.end(), likelier);
    candidates_.resize(k);
    std::sort(candidates_.begin(), candidates_.end(), likelier);
  } else if (sampling_.top_p < 1 || sampling_.min_p > 0) {
    // Only the likely tail of a large vocabulary is sorted: the bar is lowered until what stands above it holds enough.
    double total = 0;
    for (float logit : logits) total += weight(logit);
    for (float drop = 8 * temperature;; drop *= 4) {
      collect(largest - drop);
      double above = 0;
      for (const Candidate& c : candidates_) above += weight(c.logit);
      const bool enough_p = sampling_.top_p < 1 && above >= sampling_.top_p * total;
      const bool enough_min_p = std::exp(-double{drop} / temperature) < sampling_.min_p;
      if (enough_p || enough_min_p || candidates_.size() == logits.size() || drop > 1e6f * temperature) break;
    }
    std::sort(candidates_.begin(), candidates_.end(), likelier);
    if (sampling_.top_p < 1) {
      double mass = 0;
      size_t keep = 0;
      while (keep < candidates_.size() && mass < sampling_.top_p * total) mass += weight(candidates_[keep++].logit);
      candidates_.resize(std::max<size_t>(keep, 1));
    }
  } else {
    collect(-INFINITY);
    return candidates_;
  }
  if (cut_k && sampling_.top_p < 1) {
    // Top-p counts the mass of what top-k left.
    double total = 0, mass = 0;
    for (const Candidate& c : candidates_) total += weight(c.logit);
    size_t keep = 0;
    while (keep < candidates_.size() && mass < sampling_.top_p * total) mass += weight(candidates_[keep++].logit);
    candidates_.resize(std::max<size_t>(keep, 1));
  }
  if (sampling_.min_p > 0) {
    const auto cut = std::find_if(candidates_.begin(), candidates_.end(), [&](const Candidate& c) { return weight(c.logit) < sampling_.min_p; });
    candidates_.erase(std::max(cut, candidates_.begin() + 1), candidates_.end());
  }
  return candidates_;
}

void Sampler::add_logprobs(std::span<const float> logits, SampledToken& token) {
  const float largest = *std::max_element(logits.begin(), logits.end());
  double total = 0;
  for (float logit : logits) total += std::exp(double{logit} - largest);
  const double log_total = largest + std::log(total);
  const auto logprob = [&](TokenId id) { return static_cast<float>(logits[static_cast<size_t>(id)] - log_total); };
  token.logprob = logprob(token.id);
  const auto count = std::min<size_t>(static_cast<size_t>(*logprobs_), logits.size());
  auto& ids = order_;
  ids.resize(logits.size());
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<TokenId>(i);
  std::partial_sort(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count), ids.end(), [&](TokenId a, TokenId b) {
    const float x = logits[static_cast<size_t>(a)], y = logits[static_cast<size_t>(b)];
    return x > y || (x == y && a < b);
  });
  for (size_t i = 0; i < count; ++i) token.top.push_back({ids[i], logprob(ids[i])});
}

Result<SampledToken> Sampler::sample(std::span<const float> logits, int position) {
  std::span<const float> use = logits;
  if (penalised()) {
    adjusted_.assign(logits.begin(), logits.end());
    penalise(adjusted_);
    use = adjusted_;
  }
  if (std::any_of(use.begin(), use.end(), [](float logit) { return std::isnan(logit); })) {
    return error(Code::kInternal, "the model gave a logit that is no number at position {}: its weights are damaged", position);
  }
  SampledToken token{.id = static_cast<TokenId>(std::max_element(use.begin(), use.end()) - use.begin())};
  if (!std::isfinite(use[static_cast<size_t>(token.id)])) {
    return error(Code::kInternal, "the model gave no finite logit at position {}: its weights are damaged", position);
  }
  if (sampling_.temperature > 0) {
    const Noise noise(sampling_.seed, choice_, position);
    double best = -INFINITY;
    for (const Candidate& c : filter(use)) {
      const double score = double{c.logit} / sampling_.temperature + noise.gumbel(c.id);
      if (score > best) {
        best = score;
        token.id = c.id;
      }
    }
  }
  if (logprobs_) add_logprobs(logits, token);
  ++generated_[token.id];
  if (sampling_.repetition_penalty != 1.0f) seen_[token.id] = true;
  return token;
}

}  // namespace kapitsa::engine
