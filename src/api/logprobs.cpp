#include "api/logprobs.h"

#include <algorithm>
#include <cmath>

namespace kapitsa::api {
namespace {

// JSON has no infinity: a token that cannot come gets the number that OpenAI gives it.
double finite(float logprob) { return std::isfinite(logprob) ? logprob : -9999.0; }

Json entry(engine::TokenId id, float logprob, const text::Tokenizer& tokenizer) {
  const std::string text = tokenizer.bytes(id);
  Json bytes = Json::array();
  for (const char c : text) bytes.push_back(static_cast<unsigned char>(c));
  return {{"token", text}, {"logprob", finite(logprob)}, {"bytes", bytes}};
}

}  // namespace

std::vector<engine::SampledToken> shown_tokens(const engine::Event& event,
                                               const text::Tokenizer& tokenizer) {
  std::vector<engine::SampledToken> out = event.tokens;
  const bool ended_turn = event.finish == engine::FinishReason::stop && event.stop_string.empty();
  if (ended_turn && !out.empty() && std::count(tokenizer.eos.begin(), tokenizer.eos.end(),
                                               out.back().id) > 0) {
    out.pop_back();
  }
  return out;
}

Json chat_logprobs(const std::vector<engine::SampledToken>& tokens,
                   const text::Tokenizer& tokenizer) {
  Json out = Json::array();
  for (const auto& token : tokens) {
    Json one = entry(token.id, token.logprob, tokenizer);
    Json top = Json::array();
    for (const auto& other : token.top) top.push_back(entry(other.id, other.logprob, tokenizer));
    one["top_logprobs"] = std::move(top);
    out.push_back(std::move(one));
  }
  return out;
}

Json completion_logprobs(const std::vector<engine::SampledToken>& tokens,
                         const text::Tokenizer& tokenizer, int64_t& offset) {
  Json texts = Json::array(), numbers = Json::array(), tops = Json::array(),
       offsets = Json::array();
  for (const auto& token : tokens) {
    const std::string text = tokenizer.bytes(token.id);
    texts.push_back(text);
    numbers.push_back(finite(token.logprob));
    Json top = Json::object();
    for (const auto& other : token.top) top[tokenizer.bytes(other.id)] = finite(other.logprob);
    tops.push_back(std::move(top));
    offsets.push_back(offset);
    offset += count_characters(text);
  }
  return {{"tokens", texts},
          {"token_logprobs", numbers},
          {"top_logprobs", tops},
          {"text_offset", offsets}};
}

int64_t count_characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

}  // namespace kapitsa::api
