#include "api/anthropic_messages.h"

#include <fmt/format.h>
#include <xxhash.h>

#include "api/answer_reader.h"
#include "api/anthropic_content.h"
#include "api/ids.h"
#include "api/request_fields.h"
#include "api/sampling.h"
#include "api/usage.h"

namespace kapitsa::api {
namespace {

// Clients keep a thought only with a signature beside it, and send both back.
std::string sign(const std::string& thinking) {
  return fmt::format("kapitsa-{:016x}", XXH3_64bits(thinking.data(), thinking.size()));
}

class MessagesAnswer : public Answer {
 public:
  MessagesAnswer(std::string model, const AnswerForm& form)
      : model_(std::move(model)), reader_(form) {}

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
    Messages out;
    for (const text::DialectEvent& one : reader_.read(e)) take(one, out);
    if (e.finish) {
      usage_ = e.usage;
      stop_sequence_ = e.stop_string;
      // A call that was cut is nothing to run.
      stop_reason_ = *e.finish == engine::FinishReason::length ? "max_tokens"
                     : !e.stop_string.empty()                  ? "stop_sequence"
                     : reader_.has_call()                      ? "tool_use"
                                                               : "end_turn";
    }
    return streaming ? out : Messages{};
  }

  Messages end() override {
    Messages out;
    close(out);
    out.push_back(event("message_delta", {{"delta", stop()}, {"usage", anthropic_usage(usage_)}}));
    out.push_back(event("message_stop", Json::object()));
    return out;
  }

  Json whole() override {
    Messages unused;
    close(unused);
    Json out = frame();
    out["content"] = std::move(content_);
    out.update(stop());
    out["usage"] = anthropic_usage(usage_);
    return out;
  }

  Messages failure(const Error& error) override {
    return {{"error", to_text(error_body(Protocol::kAnthropic, error, ""))}};
  }

  Message heartbeat() override { return event("ping", Json::object()); }

 private:
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

  void take(const text::DialectEvent& one, Messages& out) {
    using Kind = text::DialectEvent::Kind;
    switch (one.kind) {
      case Kind::kReasoning:
        return add({{"type", "thinking"}, {"thinking", ""}, {"signature", ""}}, "thinking",
                   one.text, out);
      case Kind::kText:
        return add({{"type", "text"}, {"text", ""}}, "text", one.text, out);
      case Kind::kCallBegin:
        arguments_.clear();
        return open({{"type", "tool_use"},
                     {"id", make_id("toolu_")},
                     {"name", one.text},
                     {"input", Json::object()}},
                    out);
      case Kind::kArguments:
        arguments_ += one.text;
        return delta({{"type", "input_json_delta"}, {"partial_json", one.text}}, out);
      case Kind::kCallEnd:
        content_.back()["input"] = Json::parse(arguments_, nullptr, /*allow_exceptions=*/false);
        return close(out);
      default:
        close(out);
        content_.erase(content_.size() - 1);  // a whole answer has no place for half an input
    }
  }

  // `text` as more of the block that is open, or of a new one that begins as `block`.
  void add(const Json& block, const char* field, const std::string& text, Messages& out) {
    if (!open_ || content_.back()["type"] != block["type"]) open(block, out);
    content_.back()[field].get_ref<std::string&>() += text;
    delta({{"type", std::string(field) + "_delta"}, {field, text}}, out);
  }

  void open(const Json& block, Messages& out) {
    close(out);
    content_.push_back(block);
    open_ = true;
    out.push_back(event("content_block_start", {{"index", index_}, {"content_block", block}}));
  }

  void delta(const Json& delta, Messages& out) const {
    out.push_back(event("content_block_delta", {{"index", index_}, {"delta", delta}}));
  }

  void close(Messages& out) {
    if (!open_) return;
    open_ = false;
    Json& block = content_.back();
    if (block["type"] == "thinking") {
      block["signature"] = sign(block["thinking"].get_ref<const std::string&>());
      delta({{"type", "signature_delta"}, {"signature", block["signature"]}}, out);
    }
    out.push_back(event("content_block_stop", {{"index", index_}}));
    ++index_;
  }

  std::string model_;
  std::string id_ = make_id("msg_");
  AnswerReader reader_;
  Json content_ = Json::array();  // the blocks so far
  bool open_ = false;             // the last of them
  int index_ = 0;                 // of the block that is open, or comes next
  std::string arguments_;         // of the call that is open
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
    if (const auto effort = fields.text("effort");
        effort && !variables.contains("reasoning_effort")) {
      variables["reasoning_effort"] = *effort;
    }
    if (fields.object("format")) {
      fields.fail("format",
                  "'output_config.format' is not supported: ask for JSON in the prompt and "
                  "check what comes back");
    }
    params.adopt(fields.error());
  }
  return variables;
}

// Whether `tool_choice` lets the model call tools, and how often; an error where it demands a call.
struct ToolChoice {
  bool any = true;
  bool one = false;
};
ToolChoice read_tool_choice(Params& params) {
  ToolChoice out;
  const Json* choice = params.object("tool_choice");
  if (!choice) return out;
  Params fields(*choice, "tool_choice");
  const auto type = fields.choice("type", {"auto", "none", "any", "tool"});
  out.any = type != "none";
  out.one = fields.boolean("disable_parallel_tool_use").value_or(false);
  if (type == "any" || type == "tool")
    fields.fail("type", no_forced_calls("tool_choice.type", Json(*type)));
  params.adopt(fields.error());
  return out;
}

struct Parsed {
  std::string model;
  AnswerForm form;
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
  const ToolChoice choice = read_tool_choice(params);
  if (choice.any) input.tools = std::move(conversation.tools);
  out.form = form_of(service, input.tools);
  out.form.one_call = choice.one;
  input.variables = read_variables(params, service.info());
  out.error = params.error();
  if (out.error) return out;
  auto prompt = render(service, std::move(input), conversation.prefill);
  if (prompt.ok()) {
    out.prompt = *std::move(prompt);
    out.form.opens_reasoning = out.prompt->opens_reasoning;
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
  show_markers(parsed.form, service, request);
  auto answer = std::make_unique<MessagesAnswer>(parsed.model, parsed.form);
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
