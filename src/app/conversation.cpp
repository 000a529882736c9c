#include "app/conversation.h"

#include <fmt/format.h>

#include "base/say.h"
#include "text/unicode/utf8.h"

namespace kapitsa::app {

void Conversation::user(std::string text) {
  turns_.push_back({"user", std::move(text), {}});
}

void Conversation::assistant(std::string text, std::string reasoning) {
  turns_.push_back({"assistant", std::move(text), std::move(reasoning)});
}

void Conversation::drop_last() {
  if (!turns_.empty()) turns_.pop_back();
}

Result<text::Prompt> Conversation::prompt(const engine::Engine& engine) const {
  text::Prompt prompt;
  if (const auto bad = text::find_invalid_utf8(system)) {
    return error(Code::kInvalid, "the system text is not UTF-8 at byte {}", *bad);
  }
  for (const Turn& turn : turns_) {
    if (const auto bad = text::find_invalid_utf8(turn.text)) {
      return error(Code::kInvalid, "the {} message is not UTF-8 at byte {}", turn.role, *bad);
    }
  }
  if (raw_) {
    std::string all;
    for (const Turn& turn : turns_) all += turn.text;
    // Who writes the whole prompt means the special tokens that are spelled in it.
    KAPITSA_ASSIGN(prompt.tokens, text::make_raw_prompt(engine.tokenizer(), all, true, true));
    return prompt;
  }
  if (engine.chat_template() == nullptr) {
    return error(Code::kUnsupported,
                 "{} has no chat template, so it cannot be talked to: with --raw it goes on with "
                 "the text it is "
                 "given, or choose an instruction-tuned model",
                 engine.info().id);
  }
  text::TemplateInput input;
  input.cancel = Cancel::within(kPreparation);
  input.messages = messages();
  if (think) input.variables["enable_thinking"] = *think;
  return text::make_prompt(engine.chat_template(), engine.tokenizer(), std::move(input));
}

Json Conversation::messages() const {
  Json out = Json::array();
  if (!system.empty()) out.push_back({{"role", "system"}, {"content", system}});
  for (const Turn& turn : turns_) {
    Json message = {{"role", turn.role}, {"content", turn.text}};
    if (!turn.reasoning.empty()) message["reasoning_content"] = turn.reasoning;
    out.push_back(std::move(message));
  }
  return out;
}

std::string Conversation::transcript() const {
  std::string out;
  const auto add = [&](std::string_view who, std::string_view text) {
    out += fmt::format("{}{}: {}\n", out.empty() ? "" : "\n", who, text);
  };
  if (!system.empty()) add("system", system);
  for (const Turn& turn : turns_) add(turn.role, turn.text);
  return out;
}

void note_idle_switch(std::optional<bool> think, const engine::Engine& engine,
                      const Globals& globals) {
  if (!think || globals.quiet || engine.info().can_think) return;
  say("kapitsa: note: the template of {} has no thinking switch, so --{}think changes nothing\n",
      engine.info().id, *think ? "" : "no-");
}

}  // namespace kapitsa::app
