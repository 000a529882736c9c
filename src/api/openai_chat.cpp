#include "api/openai_chat.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "api/answer_reader.h"
#include "api/ids.h"
#include "api/logprobs.h"
#include "api/openai_messages.h"
#include "api/request_fields.h"
#include "api/sampling.h"
#include "api/usage.h"

namespace kapitsa::api {
namespace {

struct Choice {
  explicit Choice(const AnswerForm& form) : reader(form) {}

  AnswerReader reader;
  std::string reasoning;
  std::string content;
  Json calls = Json::array();
  bool content_ended = false;  // by a call; what is said behind it is a paragraph of its own
  Json logprobs = Json::array();
  std::string finish;
};

class ChatAnswer : public Answer {
 public:
  ChatAnswer(const text::Tokenizer& tokenizer, std::string model)
      : tokenizer_(tokenizer), model_(std::move(model)) {}

  void expect(int n, const AnswerForm& form, bool logprobs, bool include_usage) {
    for (int i = 0; i < n; ++i) choices_.emplace_back(form);
    usages_.resize(static_cast<size_t>(n));
    logprobs_ = logprobs;
    include_usage_ = include_usage;
  }

  Messages begin() override {
    Messages out;
    for (size_t i = 0; i < choices_.size(); ++i) {
      out.push_back(chunk(i, {{"role", "assistant"}, {"content", ""}}));
    }
    return out;
  }

  Messages on_event(size_t index, const engine::Event& event) override;

  Messages end() override {
    Messages out;
    if (include_usage_) {
      Json last = frame("chat.completion.chunk");
      last["choices"] = Json::array();
      last["usage"] = openai_usage(usages_, usages_.size());
      out.push_back({"", to_text(last)});
    }
    out.push_back({"", "[DONE]"});
    return out;
  }

  Json whole() override;

  Messages failure(const Error& error) override {
    return {{"", to_text(error_body(Protocol::kOpenAi, error, ""))}};
  }

  Message heartbeat() override { return chunk(0, Json::object()); }

 private:
  Json frame(std::string_view object) const {
    return {{"id", id_}, {"object", object}, {"created", created_}, {"model", model_}};
  }

  Message chunk(size_t index, const Json& delta, const Json& logprobs = nullptr,
                const std::string& finish = {}) const {
    Json out = frame("chat.completion.chunk");
    Json choice = {{"index", index}, {"delta", delta}};
    choice["logprobs"] = logprobs.is_null() ? Json(nullptr) : Json{{"content", logprobs}};
    choice["finish_reason"] = finish.empty() ? Json(nullptr) : Json(finish);
    out["choices"] = Json::array({choice});
    if (include_usage_) {
      out["usage"] = nullptr;
    } else if (!finish.empty() && finished_ == choices_.size()) {
      // Not asked for, but clients that never ask show it where it is.
      out["usage"] = openai_usage(usages_, usages_.size());
    }
    return {"", to_text(out)};
  }

  // Adds what an event says to its choice; the deltas that tell a stream of it.
  static Json take(Choice& choice, text::DialectEvent event);

  const text::Tokenizer& tokenizer_;
  std::string model_;
  std::string id_ = make_id("chatcmpl-");
  int64_t created_ = std::time(nullptr);
  bool logprobs_ = false;
  bool include_usage_ = false;
  std::vector<Choice> choices_;
  std::vector<engine::Usage> usages_;
  size_t finished_ = 0;
};

Json ChatAnswer::take(Choice& choice, text::DialectEvent event) {
  using Kind = text::DialectEvent::Kind;
  switch (event.kind) {
    case Kind::kReasoning:
      choice.reasoning += event.text;
      return {{"reasoning_content", event.text}};
    case Kind::kText:
      if (choice.content_ended && !choice.content.empty()) event.text.insert(0, "\n\n");
      choice.content_ended = false;
      choice.content += event.text;
      return {{"content", event.text}};
    case Kind::kCallBegin: {
      choice.content_ended = true;
      choice.calls.push_back({{"id", make_id("call_")},
                              {"type", "function"},
                              {"function", {{"name", event.text}, {"arguments", ""}}}});
      Json call = {{"index", event.call}};
      call.update(choice.calls.back());
      return {{"tool_calls", Json::array({call})}};
    }
    case Kind::kArguments: {
      auto& arguments = choice.calls.back()["function"]["arguments"].get_ref<std::string&>();
      arguments += event.text;
      return {{"tool_calls",
               Json::array({{{"index", event.call}, {"function", {{"arguments", event.text}}}}})}};
    }
    default:
      return nullptr;  // the finish reason tells
  }
}

Messages ChatAnswer::on_event(size_t index, const engine::Event& event) {
  Choice& choice = choices_[index];
  std::vector<Json> deltas;
  for (text::DialectEvent& one : choice.reader.read(event)) {
    if (Json delta = take(choice, std::move(one)); !delta.is_null())
      deltas.push_back(std::move(delta));
  }
  if (event.finish) {
    // A call that was cut is nothing to run.
    choice.finish = *event.finish == engine::FinishReason::length ? "length"
                    : choice.reader.has_call()                    ? "tool_calls"
                                                                  : "stop";
    usages_[index] = event.usage;
    ++finished_;
  }
  Json logprobs;
  if (logprobs_) logprobs = chat_logprobs(shown_tokens(event, tokenizer_), tokenizer_);
  if (!streaming) {
    for (Json& one : logprobs) choice.logprobs.push_back(std::move(one));
    return {};
  }
  if (!logprobs.empty() && std::none_of(deltas.begin(), deltas.end(), [](const Json& delta) {
        return delta.contains("content");
      })) {
    deltas.push_back({{"content", ""}});
  }
  Messages out;
  for (const Json& delta : deltas) {
    const bool tells = delta.contains("content");
    out.push_back(chunk(index, delta, tells ? std::exchange(logprobs, nullptr) : Json()));
  }
  if (event.finish) out.push_back(chunk(index, Json::object(), nullptr, choice.finish));
  return out;
}

Json ChatAnswer::whole() {
  Json out = frame("chat.completion");
  Json list = Json::array();
  for (size_t i = 0; i < choices_.size(); ++i) {
    Choice& choice = choices_[i];
    Json message = {{"role", "assistant"}, {"content", choice.content}, {"refusal", nullptr}};
    if (!choice.reasoning.empty()) message["reasoning_content"] = choice.reasoning;
    if (!choice.calls.empty()) {
      if (choice.content.empty()) message["content"] = nullptr;
      message["tool_calls"] = std::move(choice.calls);
    }
    Json one = {{"index", i}, {"message", message}};
    one["logprobs"] = logprobs_ ? Json{{"content", choice.logprobs}, {"refusal", nullptr}} : Json();
    one["finish_reason"] = choice.finish;
    list.push_back(std::move(one));
  }
  out["choices"] = std::move(list);
  out["usage"] = openai_usage(usages_, usages_.size());
  return out;
}

// Structured output is refused until it can be enforced: half-kept promises break callers later.
void refuse_formats(Params& params) {
  const Json* format = params.object("response_format");
  if (!format) return;
  Params fields(*format, "response_format");
  const std::string type = fields.text("type").value_or("text");
  if (type != "text") {
    fields.fail("type",
                fmt::format("'response_format.type' is {}; only 'text' is supported: ask for "
                            "JSON in the prompt and check what comes back",
                            brief(Json(type))));
  }
  params.adopt(fields.error());
}

std::optional<int> read_logprobs(Params& params) {
  const bool wanted = params.boolean("logprobs").value_or(false);
  const auto top = params.integer("top_logprobs", 0, 20);
  if (top && !wanted) params.fail("top_logprobs", "'top_logprobs' needs 'logprobs': true");
  if (!wanted) return std::nullopt;
  return static_cast<int>(top.value_or(0));
}

}  // namespace

Outcome openai_chat(const Service& service, const Json& body, const Cancel& cancel) {
  Params params(body);
  const std::string model = read_model(params, service);
  text::TemplateInput input;
  input.cancel = cancel;
  input.messages = read_openai_messages(params);
  input.tools = read_openai_tools(params);
  if (!read_openai_tool_choice(params)) input.tools = nullptr;
  AnswerForm form = form_of(service, input.tools);
  form.one_call = !params.boolean("parallel_tool_calls").value_or(true);
  input.variables = read_template_variables(params);
  refuse_formats(params);
  engine::Request base;
  base.sampling = read_sampling(params, service.engine);
  base.max_tokens = read_max_tokens(params, {"max_completion_tokens", "max_tokens"});
  base.stop = params.texts("stop", 64);
  base.logprobs = read_logprobs(params);
  const int n = static_cast<int>(params.integer("n", 1, kMaxChoices).value_or(1));
  const bool stream = params.boolean("stream").value_or(false);
  bool include_usage = false;
  if (const Json* options = params.object("stream_options")) {
    Params fields(*options, "stream_options");
    include_usage = fields.boolean("include_usage").value_or(false);
    params.adopt(fields.error());
  }
  if (params.failed()) return *params.error();

  auto prompt = render(service, std::move(input));
  if (!prompt.ok()) return from_status(prompt.status());
  const auto tokens = static_cast<int64_t>(prompt->tokens.size());
  if (tokens >= service.info().context) {
    return too_long(Protocol::kOpenAi, tokens, service.info().context);
  }
  base.prompt = std::move(prompt->tokens);
  form.opens_reasoning = prompt->opens_reasoning;
  show_markers(form, service, base);
  auto answer = std::make_unique<ChatAnswer>(service.engine.tokenizer(), model);
  answer->streaming = stream;
  answer->expect(n, form, base.logprobs.has_value(), include_usage);
  answer->requests = repeat(base, n);
  return answer;
}

}  // namespace kapitsa::api
