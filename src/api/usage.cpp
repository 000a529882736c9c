#include "api/usage.h"

namespace kapitsa::api {

Json openai_usage(const std::vector<engine::Usage>& choices, size_t choices_per_prompt) {
  int64_t prompt = 0, cached = 0, completion = 0;
  for (size_t i = 0; i < choices.size(); ++i) {
    completion += choices[i].completion_tokens;
    if (i % choices_per_prompt != 0) continue;
    prompt += choices[i].prompt_tokens;
    cached += choices[i].cached_tokens;
  }
  return {{"prompt_tokens", prompt},
          {"completion_tokens", completion},
          {"total_tokens", prompt + completion},
          {"prompt_tokens_details", {{"cached_tokens", cached}}}};
}

Json anthropic_usage(const engine::Usage& usage) {
  return {{"input_tokens", usage.prompt_tokens - usage.cached_tokens},
          {"cache_creation_input_tokens", 0},
          {"cache_read_input_tokens", usage.cached_tokens},
          {"output_tokens", usage.completion_tokens}};
}

}  // namespace kapitsa::api
