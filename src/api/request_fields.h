// Fields of a generation request that the protocols share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/params.h"
#include "api/service.h"
#include "text/prompt.h"

namespace kapitsa::api {

// The most answers to one prompt, and of one request over all its prompts. The engine's queue holds 64
// that wait: a request that asks for more could never be taken.
inline constexpr int64_t kMaxChoices = 16;
inline constexpr int64_t kMaxAnswers = 64;

// `model`, checked against the names served; a request that names none gets the model's id.
std::string read_model(Params& params, const Service& service);

// The first of `names` that is there; -1 (as some clients write) and absence: no limit of its own.
int read_max_tokens(Params& params, const std::vector<std::string_view>& names);

// `chat_template_kwargs`, `enable_thinking` and `reasoning_effort`, as variables of the template. Keys
// that other fields or the model's files give are refused.
Json read_template_variables(Params& params);

// Renders and tokenizes. Where a template refuses the order of the messages (system text in the
// middle, two user messages in a row), they are put in the order that every template takes, and it is
// asked again. `prefill` begins the answer.
Result<text::Prompt> render(const Service& service, text::TemplateInput input,
                            const std::string& prefill = {});

// `base` once for each of `n` choices.
std::vector<engine::Request> repeat(const engine::Request& base, int n);

}  // namespace kapitsa::api
