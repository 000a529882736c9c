#include "api/openai_completions.h"

#include <fmt/format.h>

#include <ctime>

#include "api/ids.h"
#include "api/logprobs.h"
#include "api/request_fields.h"
#include "api/sampling.h"
#include "api/usage.h"

namespace kapitsa::api {
namespace {

using engine::TokenId;

struct RawPrompt {
  std::vector<TokenId> tokens;
  std::string text;  // what `echo` gives back
};

struct Choice {
  std::string echo;
  std::string text;
  std::vector<engine::SampledToken> tokens;
  int64_t offset = 0;  // of the next token in the text, in characters
  std::string finish;
};

class CompletionAnswer : public Answer {
 public:
  CompletionAnswer(const text::Tokenizer& tokenizer, std::string model)
      : tokenizer_(tokenizer), model_(std::move(model)) {}

  void expect(size_t per_prompt, bool logprobs, bool include_usage) {
    per_prompt_ = per_prompt;
    logprobs_ = logprobs;
    include_usage_ = include_usage;
  }

  void add(const engine::Request& request, std::string echo) {
    requests.push_back(request);
    Choice choice;
    choice.offset = count_characters(echo);
    choice.echo = std::move(echo);
    choices_.push_back(std::move(choice));
    usages_.emplace_back();
  }

  Messages begin() override {
    Messages out;
    for (size_t i = 0; i < choices_.size(); ++i) {
      if (!choices_[i].echo.empty()) out.push_back(chunk(i, choices_[i].echo, nullptr, ""));
    }
    return out;
  }

  Messages on_event(size_t index, const engine::Event& event) override {
    Choice& choice = choices_[index];
    if (event.finish) {
      choice.finish = *event.finish == engine::FinishReason::length ? "length" : "stop";
      usages_[index] = event.usage;
    }
    auto tokens = shown_tokens(event, tokenizer_);
    if (!streaming) {
      choice.text += event.text;
      if (logprobs_) choice.tokens.insert(choice.tokens.end(), tokens.begin(), tokens.end());
      return {};
    }
    Json logprobs;
    if (logprobs_ && !tokens.empty()) {
      logprobs = completion_logprobs(tokens, tokenizer_, choice.offset);
    }
    if (event.text.empty() && logprobs.is_null() && !event.finish) return {};
    return {chunk(index, event.text, logprobs, choice.finish)};
  }

  Messages end() override {
    Messages out;
    if (include_usage_) {
      Json last = frame();
      last["choices"] = Json::array();
      last["usage"] = openai_usage(usages_, per_prompt_);
      out.push_back({"", to_text(last)});
    }
    out.push_back({"", "[DONE]"});
    return out;
  }

  Json whole() override {
    Json list = Json::array();
    for (size_t i = 0; i < choices_.size(); ++i) {
      Choice& choice = choices_[i];
      Json logprobs;
      if (logprobs_) logprobs = completion_logprobs(choice.tokens, tokenizer_, choice.offset);
      list.push_back(entry(i, choice.echo + choice.text, logprobs, choice.finish));
    }
    Json out = frame();
    out["choices"] = std::move(list);
    out["usage"] = openai_usage(usages_, per_prompt_);
    return out;
  }

  Messages failure(const Error& error) override {
    return {{"", to_text(error_body(Protocol::kOpenAi, error, ""))}};
  }

  Message heartbeat() override { return chunk(0, "", nullptr, ""); }

 private:
  Json frame() const {
    return {{"id", id_}, {"object", "text_completion"}, {"created", created_}, {"model", model_}};
  }

  static Json entry(size_t index, const std::string& text, const Json& logprobs,
                    const std::string& finish) {
    return {{"index", index},
            {"text", text},
            {"logprobs", logprobs},
            {"finish_reason", finish.empty() ? Json(nullptr) : Json(finish)}};
  }

  Message chunk(size_t index, const std::string& text, const Json& logprobs,
                const std::string& finish) const {
    Json out = frame();
    out["choices"] = Json::array({entry(index, text, logprobs, finish)});
    if (include_usage_) out["usage"] = nullptr;
    return {"", to_text(out)};
  }

  const text::Tokenizer& tokenizer_;
  std::string model_;
  std::string id_ = make_id("cmpl-");
  int64_t created_ = std::time(nullptr);
  size_t per_prompt_ = 1;
  bool logprobs_ = false;
  bool include_usage_ = false;
  std::vector<Choice> choices_;
  std::vector<engine::Usage> usages_;
};

// Reads the forms of `prompt`: a string, token ids, or an array of either.
class PromptReader {
 public:
  PromptReader(Params& params, const text::Tokenizer& tokenizer, const Cancel& cancel)
      : params_(params), tokenizer_(tokenizer), cancel_(cancel) {
    special_ = params.boolean("parse_special").value_or(true);
    add_bos_ = params.boolean("add_special_tokens").value_or(true);
  }

  std::vector<RawPrompt> read() {
    const Json* prompt = params_.find("prompt");
    if (params_.failed()) return {};
    if (!prompt) {
      params_.fail("prompt", "'prompt' is missing");
    } else if (prompt->is_array() && !prompt->empty() && !prompt->front().is_number()) {
      if (prompt->size() > static_cast<size_t>(kMaxAnswers)) {
        params_.fail("prompt", fmt::format("'prompt' holds {} prompts; at most {} are allowed",
                                           prompt->size(), kMaxAnswers));
      }
      for (size_t i = 0; i < prompt->size() && !params_.failed(); ++i) {
        one((*prompt)[i], fmt::format("prompt[{}]", i));
      }
    } else {
      one(*prompt, "prompt");
    }
    return std::move(prompts_);
  }

 private:
  void one(const Json& value, const std::string& path) {
    RawPrompt out;
    if (value.is_string()) {
      out.text = value.get<std::string>();
      auto tokens = text::make_raw_prompt(tokenizer_, out.text, special_, add_bos_, cancel_);
      if (!tokens.ok()) return params_.fail("prompt", tokens.status().in(path).message());
      out.tokens = *std::move(tokens);
    } else if (value.is_array() && !value.empty()) {
      for (const Json& id : value) {
        if (!add_token(id, path, out)) return;
      }
    } else {
      return params_.fail("prompt", fmt::format("'{}' must be a string or an array of token ids, "
                                                "not {}",
                                                path, brief(value)));
    }
    // Something must come before the first token of an answer.
    if (out.tokens.empty() && tokenizer_.bos) out.tokens.push_back(*tokenizer_.bos);
    prompts_.push_back(std::move(out));
  }

  bool add_token(const Json& id, const std::string& path, RawPrompt& out) {
    const auto size = static_cast<int64_t>(tokenizer_.vocab_size());
    if (!id.is_number_integer() || id < 0 || id >= size) {
      params_.fail("prompt", fmt::format("'{}' holds {}; token ids are integers from 0 to {}", path,
                                         brief(id), size - 1));
      return false;
    }
    out.tokens.push_back(id.get<TokenId>());
    out.text += tokenizer_.bytes(out.tokens.back());
    return true;
  }

  Params& params_;
  const text::Tokenizer& tokenizer_;
  const Cancel& cancel_;
  bool special_;
  bool add_bos_;
  std::vector<RawPrompt> prompts_;
};

std::optional<int> read_logprobs(Params& params) {
  // The old protocol counts; some clients send true.
  const Json* value = params.find("logprobs");
  if (value && value->is_boolean()) return *value ? std::optional<int>(0) : std::nullopt;
  const auto count = params.integer("logprobs", 0, 20);
  return count ? std::optional<int>(static_cast<int>(*count)) : std::nullopt;
}

void refuse_unsupported(Params& params, bool echo, bool logprobs, int64_t n) {
  if (const auto suffix = params.text("suffix"); suffix && !suffix->empty()) {
    params.fail("suffix", "'suffix' is not supported: write the model's own fill-in-the-middle tokens "
                          "into the prompt");
  }
  if (echo && logprobs) {
    params.fail("echo", "'echo' together with 'logprobs' is not supported: there are no log "
                        "probabilities of the prompt");
  }
  if (const auto best = params.integer("best_of", 1, kMaxChoices); best && *best != n) {
    params.fail("best_of", fmt::format("'best_of' is {} and 'n' is {}; only equal ones are supported",
                                       *best, n));
  }
}

}  // namespace

Outcome openai_completions(const Service& service, const Json& body, const Cancel& cancel) {
  Params params(body);
  const std::string model = read_model(params, service);
  const auto prompts = PromptReader(params, service.engine.tokenizer(), cancel).read();
  engine::Request base;
  base.sampling = read_sampling(params, service.engine);
  base.max_tokens = params.find("max_tokens") ? read_max_tokens(params, {"max_tokens"}) : 16;
  base.stop = params.texts("stop", 64);
  base.logprobs = read_logprobs(params);
  const int n = static_cast<int>(params.integer("n", 1, kMaxChoices).value_or(1));
  const bool stream = params.boolean("stream").value_or(false);
  const bool echo = params.boolean("echo").value_or(false);
  bool include_usage = false;
  if (const Json* options = params.object("stream_options")) {
    Params fields(*options, "stream_options");
    include_usage = fields.boolean("include_usage").value_or(false);
    params.adopt(fields.error());
  }
  refuse_unsupported(params, echo, base.logprobs.has_value(), n);
  if (prompts.size() * static_cast<size_t>(n) > static_cast<size_t>(kMaxAnswers)) {
    params.fail("n", fmt::format("{} prompts times 'n' = {} is more than {} answers; send fewer at a time",
                                 prompts.size(), n, kMaxAnswers));
  }
  if (params.failed()) return *params.error();

  auto answer = std::make_unique<CompletionAnswer>(service.engine.tokenizer(), model);
  answer->streaming = stream;
  answer->expect(static_cast<size_t>(n), base.logprobs.has_value(), include_usage);
  for (const RawPrompt& prompt : prompts) {
    const auto size = static_cast<int64_t>(prompt.tokens.size());
    if (size >= service.info().context) {
      return too_long(Protocol::kOpenAi, size, service.info().context);
    }
    base.prompt = prompt.tokens;
    for (const engine::Request& request : repeat(base, n)) {
      answer->add(request, echo ? prompt.text : "");
    }
  }
  return answer;
}

}  // namespace kapitsa::api
