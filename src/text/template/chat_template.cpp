#include "text/template/chat_template.h"

#include <cctype>

#include "text/bridge/bridge.h"

namespace kapitsa::text {
namespace {

// A text that the bridge gave, freed at the end of its life.
class BridgeText {
 public:
  BridgeText() = default;
  BridgeText(const BridgeText&) = delete;
  BridgeText& operator=(const BridgeText&) = delete;
  ~BridgeText() { kapitsa_text_free(text_); }

  kapitsa_text* out() { return &text_; }
  std::string_view view() const {
    return text_.data == nullptr ? std::string_view() : std::string_view(text_.data, text_.size);
  }

 private:
  kapitsa_text text_ = {nullptr, 0};
};

// The template's variables as transformers passes them: `tools` and `documents` are None when there are
// none, and the caller's own variables come last.
Result<std::string> context_of(const TemplateInput& input) {
  Json context = {{"messages", input.messages},
                  {"tools", input.tools},
                  {"documents", nullptr},
                  {"add_generation_prompt", input.add_generation_prompt}};
  if (!input.variables.is_object() && !input.variables.is_null()) {
    return error(Code::kInvalid, "chat template: the variables are {}, not an object",
                 input.variables.type_name());
  }
  for (const auto& [key, value] : input.variables.items()) context[key] = value;
  try {
    return context.dump();
  } catch (const Json::exception&) {
    return Status(Code::kInvalid, "the conversation holds text that is not UTF-8");
  }
}

Status failure(int code, std::string_view text) {
  if (code == KAPITSA_BRIDGE_RAISED) {
    return error(Code::kInvalid, "the chat template refuses the messages: {}", text);
  }
  return error(Code::kInvalid, "chat template: {}", text);
}

class BridgeTemplate : public ChatTemplate {
 public:
  BridgeTemplate(kapitsa_template* compiled, std::string_view source)
      : compiled_(compiled), source_(source) {}
  ~BridgeTemplate() override { kapitsa_template_free(compiled_); }

  Result<std::string> render(const TemplateInput& input) const override {
    return run(kapitsa_template_render, input);
  }

  Result<std::vector<Span>> render_spans(const TemplateInput& input) const override {
    KAPITSA_ASSIGN(const std::string text, run(kapitsa_template_render_spans, input));
    const Json pieces = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!pieces.is_array()) return error(Code::kInternal, "chat template: no spans from the bridge");
    std::vector<Span> spans;
    bool trusted = true;
    for (const Json& piece : pieces) {
      auto& piece_text = piece.get_ref<const std::string&>();
      if (!piece_text.empty()) spans.push_back({piece_text, trusted});
      trusted = !trusted;
    }
    return spans;
  }

  std::string_view source() const override { return source_; }

  bool mentions(std::string_view variable) const override {
    const auto is_word = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
    const std::string_view source = source_;
    if (variable.empty()) return false;
    for (size_t at = source.find(variable); at != source.npos; at = source.find(variable, at + 1)) {
      const size_t end = at + variable.size();
      if ((at == 0 || !is_word(source[at - 1])) && (end == source.size() || !is_word(source[end]))) {
        return true;
      }
    }
    return false;
  }

 private:
  Result<std::string> run(decltype(kapitsa_template_render)* function,
                          const TemplateInput& input) const {
    KAPITSA_ASSIGN(const std::string context, context_of(input));
    BridgeText result;
    const kapitsa_watch watch = {
        [](const void* cancel) { return static_cast<const Cancel*>(cancel)->stopped() ? 0 : 1; }, &input.cancel};
    const int code = function(compiled_, context.data(), context.size(), watch, result.out());
    KAPITSA_RETURN_IF_ERROR(input.cancel.status("the chat template"));
    if (code != KAPITSA_BRIDGE_OK) return failure(code, result.view());
    return std::string(result.view());
  }

  kapitsa_template* compiled_;
  std::string source_;
};

}  // namespace

Result<std::unique_ptr<ChatTemplate>> ChatTemplate::compile(std::string_view source) {
  kapitsa_template* compiled = nullptr;
  BridgeText text;
  const int code = kapitsa_template_compile(source.data(), source.size(), &compiled, text.out());
  if (code != KAPITSA_BRIDGE_OK) return failure(code, text.view());
  return std::unique_ptr<ChatTemplate>(std::make_unique<BridgeTemplate>(compiled, source));
}

}  // namespace kapitsa::text
