#include "api/answer_reader.h"

#include <fmt/format.h>

#include "text/dialect/marker_tokens.h"

namespace kapitsa::api {

using Kind = text::DialectEvent::Kind;

AnswerForm form_of(const Service& service, const Json& tools) {
  const text::ChatTemplate* chat_template = service.engine.chat_template();
  AnswerForm form;
  form.dialect = chat_template ? &text::dialect_for(chat_template->source()) : &text::plain();
  form.tools = std::make_shared<const text::ToolSet>(tools);
  return form;
}

void show_markers(const AnswerForm& form, const Service& service, engine::Request& request) {
  request.shown =
      text::marker_tokens(*form.dialect, !form.tools->empty(), service.engine.tokenizer());
}

std::string no_forced_calls(std::string_view path, const Json& asked) {
  return fmt::format(
      "'{}' is {}: a call cannot be forced yet; leave the choice to the model and ask for the call "
      "in "
      "the prompt",
      path, brief(asked));
}

AnswerReader::AnswerReader(const AnswerForm& form)
    : parser_(*form.dialect, form.tools, form.opens_reasoning), one_call_(form.one_call) {}

text::DialectEvents AnswerReader::read(const engine::Event& event) {
  text::DialectEvents out = parser_.push(event.text);
  if (event.finish) {
    for (auto& one : parser_.finish()) out.push_back(std::move(one));
  }
  if (one_call_) {
    std::erase_if(out, [](const auto& one) { return one.call > 0; });
  }
  for (const auto& one : out) has_call_ = has_call_ || one.kind == Kind::kCallEnd;
  return out;
}

}  // namespace kapitsa::api
