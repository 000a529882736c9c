// From logits to a token, in the one order that docs/numerics.md states: penalties and bias, temperature, top-k, top-p,
// min-p, then the draw.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/request.h"

namespace kapitsa::engine {

class Sampler {
 public:
  Sampler(const Sampling& sampling, int choice, std::optional<int> logprobs, std::span<const TokenId> prompt);

  // Draws the token at `position` (of the sequence, prompt included) and remembers it. Error: kInternal where no logit
  // is finite.
  Result<SampledToken> sample(std::span<const float> logits, int position);

 private:
  struct Candidate {
    TokenId id;
    float logit;
  };
  bool penalised() const;
  void penalise(std::vector<float>& logits) const;
  // What top-k, top-p and min-p leave, most likely first.
  std::span<const Candidate> filter(std::span<const float> logits);
  void add_logprobs(std::span<const float> logits, SampledToken& token);

  Sampling sampling_;
  int choice_;
  std::optional<int> logprobs_;
  std::unordered_map<TokenId, int> generated_;
  std::unordered_map<TokenId, bool> seen_;  // in the prompt or the answer
  std::vector<float> adjusted_;
  std::vector<Candidate> candidates_;
  std::vector<TokenId> order_;  // of log probabilities
};

}  // namespace kapitsa::engine
