#include "api/request_fields.h"

#include <fmt/format.h>

#include <limits>

namespace kapitsa::api {
namespace {

// What the request's other fields, or the model's files, give the template: a client that could set them
// here would go around the checks of the former and speak with the authority of the latter.
constexpr std::string_view kReserved[] = {"messages", "tools", "add_generation_prompt", "bos_token",
                                          "eos_token"};

// System text behind the first message speaks as the user does; neighbours of one role are merged.
Json plain_order(const Json& messages) {
  Json out = Json::array();
  for (Json message : messages) {
    const bool late_system = !out.empty() && message["role"] == "system";
    if (late_system) message["role"] = "user";
    if (message["role"] == "user" && !out.empty() && out.back()["role"] == "user") {
      out.back()["content"] =
          out.back()["content"].get<std::string>() + "\n\n" + message["content"].get<std::string>();
    } else {
      out.push_back(std::move(message));
    }
  }
  return out;
}

}  // namespace

std::string read_model(Params& params, const Service& service) {
  const auto name = params.text("model");
  if (!name) return service.info().id;
  if (!service.serves(*name)) params.adopt(model_not_found(*name, service.names()));
  return *name;
}

int read_max_tokens(Params& params, const std::vector<std::string_view>& names) {
  constexpr int kNoLimit = std::numeric_limits<int>::max();
  for (const std::string_view name : names) {
    const auto value = params.integer(name, -1, std::numeric_limits<int64_t>::max());
    if (!value) continue;
    if (*value == 0) params.fail(name, fmt::format("'{}' is 0; it must be at least 1", name));
    // More than the context holds is fine: the engine ends the answer where the context does.
    return *value <= 0 || *value > kNoLimit ? kNoLimit : static_cast<int>(*value);
  }
  return kNoLimit;
}

Json read_template_variables(Params& params) {
  Json variables = Json::object();
  if (const auto effort = params.choice(
          "reasoning_effort", {"none", "minimal", "low", "medium", "high", "xhigh", "max"})) {
    variables["enable_thinking"] = *effort != "none" && *effort != "minimal";
    if (*effort != "none") variables["reasoning_effort"] = *effort;
  }
  if (const auto thinking = params.boolean("enable_thinking")) {
    variables["enable_thinking"] = *thinking;
  }
  if (const Json* extra = params.object("chat_template_kwargs")) {
    for (const std::string_view reserved : kReserved) {
      if (!extra->contains(reserved)) continue;
      const std::string name = fmt::format("chat_template_kwargs.{}", reserved);
      params.fail(name, fmt::format("'{}' is not a client's to set; the names that are reserved: {}",
                                    name, fmt::join(kReserved, ", ")));
    }
    variables.update(*extra);
  }
  return variables;
}

Result<text::Prompt> render(const Service& service, text::TemplateInput input,
                            const std::string& prefill) {
  const auto& tokenizer = service.engine.tokenizer();
  const text::ChatTemplate* chat_template = service.engine.chat_template();
  auto prompt = text::make_prompt(chat_template, tokenizer, input, prefill);
  if (prompt.ok() || chat_template == nullptr) return prompt;
  Json reordered = plain_order(input.messages);
  if (reordered == input.messages) return prompt;
  input.messages = std::move(reordered);
  auto second = text::make_prompt(chat_template, tokenizer, std::move(input), prefill);
  // The first error speaks of what the client sent.
  return second.ok() ? std::move(second) : std::move(prompt);
}

std::vector<engine::Request> repeat(const engine::Request& base, int n) {
  std::vector<engine::Request> out(static_cast<size_t>(n), base);
  for (int i = 0; i < n; ++i) out[static_cast<size_t>(i)].choice = i;
  return out;
}

}  // namespace kapitsa::api
