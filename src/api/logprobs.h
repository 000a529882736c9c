// Log probabilities in the shapes of Chat Completions and Completions.
#pragma once

#include <cstdint>
#include <vector>

#include "base/json.h"
#include "engine/request.h"

namespace kapitsa::api {

// Tokens that belong to an answer: all of the event's but the one that ended the turn.
std::vector<engine::SampledToken> shown_tokens(const engine::Event& event,
                                               const text::Tokenizer& tokenizer);

// Entries of a chat choice's logprobs.content.
Json chat_logprobs(const std::vector<engine::SampledToken>& tokens,
                   const text::Tokenizer& tokenizer);

// A completion choice's logprobs object. `offset` is the place of the first token in the text, in
// characters; it moves behind the last.
Json completion_logprobs(const std::vector<engine::SampledToken>& tokens,
                         const text::Tokenizer& tokenizer, int64_t& offset);

// The number of characters of valid UTF-8.
int64_t count_characters(std::string_view text);

}  // namespace kapitsa::api
