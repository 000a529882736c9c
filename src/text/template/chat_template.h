// Chat templates (Jinja) rendered as transformers' apply_chat_template renders them, with what users
// typed kept apart from what the template wrote.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/json.h"
#include "base/status.h"
#include "text/token/tokenizer.h"

namespace kapitsa::text {

// What a template is rendered with. Messages, tools and extra variables are in the Hugging Face
// (OpenAI-like) form: {"role","content",("tool_calls"|"reasoning_content"|...)}.
struct TemplateInput {
  Json messages = Json::array();
  Json tools;                        // array, or null for none
  Json variables = Json::object();   // enable_thinking, reasoning_effort, ... and bos_token, eos_token
  bool add_generation_prompt = true;
  Cancel cancel;  // a template is a program: it may take as long as its author likes
};

class ChatTemplate {
 public:
  virtual ~ChatTemplate() = default;

  // Compiles the template. Error: the line and the cause.
  static Result<std::unique_ptr<ChatTemplate>> compile(std::string_view source);

  // The plain rendering. Error: a template's own raise_exception text, the line and the cause, or that of
  // `input.cancel`.
  virtual Result<std::string> render(const TemplateInput& input) const = 0;

  // The same text as spans, character by character: what came from the strings of `messages`,
  // `tools` and the variables except bos_token and eos_token is untrusted (their keys too, unless the
  // template spells them; a role that is a plain word is trusted), all else is trusted. The concatenation equals render(). Where a template treats strings
  // in a way that cannot be followed, the whole text is one untrusted span.
  virtual Result<std::vector<Span>> render_spans(const TemplateInput& input) const = 0;

  // The template's text.
  virtual std::string_view source() const = 0;
  // Whether the template's text mentions a variable (how `enable_thinking` support is found out).
  virtual bool mentions(std::string_view variable) const = 0;
};

}  // namespace kapitsa::text
