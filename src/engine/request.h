// What is asked of the engine, and what comes back: no protocol, no sockets, no text templates.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "text/token/tokenizer.h"

namespace kapitsa::engine {

using text::TokenId;

// In the order in which they are applied (contract 1): penalties and bias, temperature, top-k, top-p,
// min-p, then the draw.
struct Sampling {
  float temperature = 1.0f;         // 0: greedy, the largest logit, the lowest id among equals
  int top_k = 0;                    // 0: off
  float top_p = 1.0f;               // 1: off
  float min_p = 0.0f;               // 0: off
  float repetition_penalty = 1.0f;  // 1: off; divides positive and multiplies negative logits of tokens seen
  float presence_penalty = 0.0f;    // subtracted once from tokens generated so far
  float frequency_penalty = 0.0f;   // subtracted for each time a token was generated
  std::map<TokenId, float> logit_bias;
  uint64_t seed = 0;                // the noise is a function of (seed, choice, position, token)
};

struct Request {
  std::vector<TokenId> prompt;
  int max_tokens = std::numeric_limits<int>::max();  // cut to what the context still holds
  Sampling sampling;
  int choice = 0;                     // which of a request's `n` answers this is
  std::vector<std::string> stop;      // stop strings; never part of the text that comes back
  bool stop_at_eos = true;
  bool show_special = false;          // special tokens appear in the text (they never do otherwise)
  std::vector<TokenId> shown;         // special tokens that do all the same: markers that a dialect's parser reads
  std::optional<int> logprobs;        // with each token: its log probability and that many alternatives
};

enum class FinishReason { stop, length, cancelled };

struct TokenLogprob {
  TokenId id;
  float logprob;  // natural log, of the model's own distribution (before temperature and filters)
};

struct SampledToken {
  TokenId id;
  float logprob = 0;                 // only where Request::logprobs is set
  std::vector<TokenLogprob> top;     // most likely first
};

struct Usage {
  int prompt_tokens = 0;
  int cached_tokens = 0;      // of the prompt, not computed again
  int completion_tokens = 0;  // every token sampled, the end-of-turn token included
  double queued_s = 0;        // from submit to the first prompt chunk
  double prefill_s = 0;       // until the first token was sampled
  double decode_s = 0;        // from the first token to the last
};

// One piece of a stream. Exactly one event of a stream has `finish` or a failed `status`; it is the last.
struct Event {
  std::string text;                  // valid UTF-8; whole characters
  std::vector<SampledToken> tokens;  // sampled since the previous event; their text may still be held
                                     // back (an unfinished character, a possible stop string)
  std::optional<FinishReason> finish;
  std::string stop_string;           // the stop string that ended it, empty otherwise
  Usage usage;                       // with the last event
  Status status;                     // a failure ends the stream
  bool last() const { return finish.has_value() || !status.ok(); }
};

}  // namespace kapitsa::engine
