// Token counts in each protocol's shape, from one place.
#pragma once

#include <vector>

#include "base/json.h"
#include "engine/request.h"

namespace kapitsa::api {

// OpenAI: the prompt counts once for all its choices. Choices of one prompt stand together.
Json openai_usage(const std::vector<engine::Usage>& choices, size_t choices_per_prompt);

// Anthropic counts what came from the cache apart from input_tokens.
Json anthropic_usage(const engine::Usage& usage);

}  // namespace kapitsa::api
