#include "api/anthropic_messages.h"

#include <fmt/format.h>
#include <xxhash.h>

#include "api/anthropic_content.h"
#include "api/ids.h"
#include "api/request_fields.h"
#include "api/sampling.h"
#include "api/usage.h"
#include "text/dialect/reasoning.h"

namespace kapitsa::api {
namespace {

// Clients keep a thought only with a signature beside it, and send both back.
std::string sign(const std::string& thinking) {
  return fmt::format("kapitsa-{:016x}", XXH3_64bits(thinking.data(), thinking.size()));
}

class MessagesAnswer : public Answer {
 public:
  MessagesAnswer(std::string model, bool opens_reasoning)
      : model_(std::move(model)), splitter_(opens_reasoning) {}

  Messages begin() override {
    engine::Usage start;
    start.prompt_tokens = static_cast<int>(requests[0].prompt.size());
    Json message = frame();
    message["content"] = Json::array();
    message["stop_reason"] = nullptr;
    message["stop_sequence"] = nullptr;
    message["usage"] = anthropic_usage(start);
    return {event("message_start", {{"message", message}}), heartbeat()};
  }

  Messages on_event(size_t, const engine::Event& e) override {
    auto part = splitter_.push(e.text);
    if (e.finish) {
      auto rest = splitter_.finish();
      part.reasoning += rest.reasoning;
      part.answer += rest.answer;
      usage_ = e.usage;
      stop_sequence_ = e.stop_string;
      stop_reason_ = *e.finish == engine::FinishReason::length ? "max_tokens"
                     : e.stop_string.empty()                   ? "end_turn"
                                                               : "stop_sequence";
    }
    Messages out;
    if (!part.reasoning.empty()) {
      open(Block::kThinking, out);
      thinking_ += part.reasoning;
      delta({{"type", "thinking_delta"}, {"thinking", part.reasoning}}, out);
    }
    if (!part.answer.empty()) {
      open(Block::kText, out);
      text_ += part.answer;
      delta({{"type", "text_delta"}, {"text", part.answer}}, out);
    }
    return streaming ? out : Messages{};
  }

  Messages end() override {
    Messages out;
    open(Block::kNone, out);
    out.push_back(event("message_delta", {{"delta", stop()}, {"usage", anthropic_usage(usage_)}}));
    out.push_back(event("message_stop", Json::object()));
    return out;
  }

  Json whole() override {
    Json content = Json::array();
    if (!thinking_.empty()) {
      content.push_back(
          {{"type", "thinking"}, {"thinking", thinking_}, {"signature", sign(thinking_)}});
    }
    if (!text_.empty()) content.push_back({{"type", "text"}, {"text", text_}});
    Json out = frame();
    out["content"] = std::move(content);
    out.update(stop());
    out["usage"] = anthropic_usage(usage_);
    return out;
  }

  Messages failure(const Error& error) override {
    return {{"error", to_text(error_body(Protocol::kAnthropic, error, ""))}};
  }

  Message heartbeat() override { return event("ping", Json::object()); }

 private:
  enum class Block { kNone, kThinking, kText };

  Json frame() const {
    return {{"id", id_}, {"type", "message"}, {"role", "assistant"}, {"model", model_}};
  }

  Json stop() const {
    return {{"stop_reason", stop_reason_},
            {"stop_sequence", stop_sequence_.empty() ? Json(nullptr) : Json(stop_sequence_)}};
  }

  static Message event(const std::string& type, const Json& fields) {
    Json data = {{"type", type}};
    data.update(fields);
    return {type, to_text(data)};
  }

  void delta(const Json& delta, Messages& out) const {
    out.push_back(event("content_block_delta", {{"index", index_}, {"delta", delta}}));
  }

  // Makes `block` the open one: ends another that was, and begins it.
  void open(Block block, Messages& out) {
    if (block == open_) return;
    if (open_ == Block::kThinking) {
      delta({{"type", "signature_delta"}, {"signature", sign(thinking_)}}, out);
    }
    if (open_ != Block::kNone) {
      out.push_back(event("content_block_stop", {{"index", index_}}));
      ++index_;
    }
    open_ = block;
    if (block == Block::kNone) return;
    const Json start = block == Block::kThinking
                           ? Json{{"type", "thinking"}, {"thinking", ""}, {"signature", ""}}
                           : Json{{"type", "text"}, {"text", ""}};
    out.push_back(event("content_block_start", {{"index", index_}, {"content_block", start}}));
  }

  std::string model_;
  std::string id_ = make_id("msg_");
  text::ReasoningSplitter splitter_;
  Block open_ = Block::kNone;
  int index_ = 0;
  std::string thinking_;
  std::string text_;
  engine::Usage usage_;
  std::string stop_reason_;
  std::string stop_sequence_;
};

// thinking, output_config.effort and the template's own variables.
Json read_variables(Params& params, const engine::ModelInfo& info) {
  Json variables = read_template_variables(params);
  bool on = false;
  if (const Json* thinking = params.object("thinking")) {
    Params fields(*thinking, "thinking");
    const auto type = fields.choice("type", {"enabled", "adaptive", "disabled"});
    on = type.value_or("disabled") != "disabled";
    params.adopt(fields.error());
  }
  if (info.can_think && !variables.contains("enable_thinking")) variables["enable_thinking"] = on;
  if (const Json* config = params.object("output_config")) {
    Params fields(*config, "output_config");
    if (const auto effort = fields.text("effort"); effort && !variables.contains("reasoning_effort")) {
      variables["reasoning_effort"] = *effort;
    }
    if (fields.object("format")) {
      fields.fail("format", "'output_config.format' is not supported: ask for JSON in the prompt and "
                            "check what comes back");
    }
    params.adopt(fields.error());
  }
  return variables;
}

struct Parsed {
  std::string model;
  std::optional<text::Prompt> prompt;
  std::optional<Error> error;
};

// What both endpoints read.
Parsed parse(const Service& service, Params& params, const Cancel& cancel) {
  Parsed out;
  out.model = read_model(params, service);
  AnthropicConversation conversation = read_anthropic_conversation(params);
  text::TemplateInput input;
  input.cancel = cancel;
  input.messages = std::move(conversation.messages);
  input.tools = std::move(conversation.tools);
  input.variables = read_variables(params, service.info());
  out.error = params.error();
  if (out.error) return out;
  auto prompt = render(service, std::move(input), conversation.prefill);
  if (prompt.ok()) {
    out.prompt = *std::move(prompt);
  } else {
    out.error = from_status(prompt.status());
  }
  return out;
}

}  // namespace

Outcome anthropic_messages(const Service& service, const Json& body, const Cancel& cancel) {
  Params params(body);
  engine::Request request;
  request.sampling = read_sampling(params, service.engine);
  request.max_tokens = read_max_tokens(params, {"max_tokens"});
  request.stop = params.texts("stop_sequences", 64);
  const bool stream = params.boolean("stream").value_or(false);
  Parsed parsed = parse(service, params, cancel);
  if (parsed.error) return *parsed.error;
  const auto tokens = static_cast<int64_t>(parsed.prompt->tokens.size());
  if (tokens >= service.info().context) {
    return too_long(Protocol::kAnthropic, tokens, service.info().context);
  }
  request.prompt = std::move(parsed.prompt->tokens);
  auto answer = std::make_unique<MessagesAnswer>(parsed.model, parsed.prompt->opens_reasoning);
  answer->streaming = stream;
  answer->requests = {std::move(request)};
  return answer;
}

Outcome anthropic_count_tokens(const Service& service, const Json& body, const Cancel& cancel) {
  Params params(body);
  Parsed parsed = parse(service, params, cancel);
  if (parsed.error) return *parsed.error;
  return Json{{"input_tokens", parsed.prompt->tokens.size()}};
}

}  // namespace kapitsa::api
