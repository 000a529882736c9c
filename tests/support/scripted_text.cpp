#include "tests/support/scripted_text.h"

namespace kapitsa::test {

using text::Span;
using text::TokenId;

ScriptedTokenizer::ScriptedTokenizer() {
  for (int i = 0; i < 256; ++i) pieces_.emplace_back(1, static_cast<char>(i));
  for (const char* special : {"<s>", "<|im_start|>", "<|im_end|>"}) add(special);
  bos = 256;
  eos = {258};
  add_bos = true;
}

TokenId ScriptedTokenizer::add(const std::string& piece) {
  const auto [entry, added] = ids_.try_emplace(piece, static_cast<TokenId>(pieces_.size()));
  if (added) pieces_.push_back(piece);
  return entry->second;
}

std::string ScriptedTokenizer::decode(const std::vector<TokenId>& ids) const {
  std::string out;
  for (const TokenId id : ids) out += bytes(id);
  return out;
}

Result<std::vector<TokenId>> ScriptedTokenizer::encode(std::span<const Span> spans,
                                                       const Cancel&) const {
  std::vector<TokenId> out;
  for (const Span& span : spans) {
    for (size_t i = 0; i < span.text.size();) {
      size_t used = 0;
      for (TokenId id = 256; id <= 258 && span.trusted; ++id) {
        const std::string& special = pieces_[static_cast<size_t>(id)];
        if (span.text.compare(i, special.size(), special) != 0) continue;
        out.push_back(id);
        used = special.size();
      }
      if (used == 0) {
        out.push_back(static_cast<unsigned char>(span.text[i]));
        used = 1;
      }
      i += used;
    }
  }
  return out;
}

std::string ScriptedTokenizer::bytes(TokenId id) const {
  const auto place = static_cast<size_t>(id);
  return id < 0 || place >= pieces_.size() ? std::string() : pieces_[place];
}

std::optional<TokenId> ScriptedTokenizer::find(std::string_view piece) const {
  const auto entry = ids_.find(piece);
  return entry == ids_.end() ? std::nullopt : std::optional<TokenId>(entry->second);
}

Result<std::vector<Span>> ScriptedTemplate::render_spans(const text::TemplateInput& input) const {
  std::vector<Span> out;
  if (input.tools.is_array()) {
    out.push_back({"<|im_start|>tools\n", true});
    out.push_back({input.tools.dump(), false});
    out.push_back({"<|im_end|>\n", true});
  }
  bool first = true;
  for (const Json& message : input.messages) {
    const auto role = message["role"].get<std::string>();
    if (role == "system" && !first) return error(Code::kInvalid, "system text must come first");
    first = false;
    auto content = message["content"].get<std::string>();
    if (content == "raise") return error(Code::kInvalid, "line 1: raised by the template");
    out.push_back({"<|im_start|>" + role + "\n", true});
    if (message.contains("reasoning_content")) {
      const auto thought = message["reasoning_content"].get<std::string>();
      out.push_back({fmt::format("({})", thought), false});
    }
    out.push_back({std::move(content), false});
    if (message.contains("tool_calls")) out.push_back({message["tool_calls"].dump(), false});
    out.push_back({"<|im_end|>\n", true});
  }
  if (input.add_generation_prompt) {
    out.push_back({"<|im_start|>assistant\n", true});
    if (input.variables.value("enable_thinking", false)) out.push_back({"<think>\n", true});
  }
  return out;
}

Result<std::string> ScriptedTemplate::render(const text::TemplateInput& input) const {
  KAPITSA_ASSIGN(const auto spans, render_spans(input));
  std::string out;
  for (const Span& span : spans) out += span.text;
  return out;
}

}  // namespace kapitsa::test
