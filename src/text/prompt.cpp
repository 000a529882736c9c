#include "text/prompt.h"

namespace kapitsa::text {
namespace {

bool ends_with_open_tag(const std::vector<Span>& spans) {
  constexpr std::string_view kOpen = "<think>";
  std::string tail;  // of trusted text only: a user who types the tag opens nothing
  for (auto span = spans.rbegin(); span != spans.rend() && span->trusted; ++span) {
    tail.insert(0, span->text);
    if (tail.size() > 64) break;
  }
  const size_t end = tail.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return false;
  tail.erase(end + 1);
  return tail.size() >= kOpen.size() && tail.substr(tail.size() - kOpen.size()) == kOpen;
}

}  // namespace

Result<Prompt> make_prompt(const ChatTemplate* chat_template, const Tokenizer& tokenizer,
                           TemplateInput input, std::string_view prefill) {
  if (chat_template == nullptr) {
    return error(Code::kUnsupported,
                 "this model has no chat template, so it cannot take messages: send a whole prompt "
                 "as text (/v1/completions), or choose an instruction-tuned model");
  }
  if (tokenizer.bos) input.variables["bos_token"] = tokenizer.piece(*tokenizer.bos);
  if (!tokenizer.eos.empty()) input.variables["eos_token"] = tokenizer.piece(tokenizer.eos.front());
  KAPITSA_ASSIGN(std::vector<Span> spans, chat_template->render_spans(input));
  Prompt prompt;
  prompt.opens_reasoning =
      input.add_generation_prompt && prefill.empty() && ends_with_open_tag(spans);
  if (!prefill.empty()) spans.push_back({std::string(prefill), false});
  KAPITSA_ASSIGN(prompt.tokens, tokenizer.encode(std::span(spans), input.cancel));
  return prompt;
}

Result<std::vector<TokenId>> make_raw_prompt(const Tokenizer& tokenizer, std::string_view text,
                                             bool special, bool add_bos,
                                             const Cancel& cancel) {
  KAPITSA_ASSIGN(std::vector<TokenId> tokens, tokenizer.encode(text, special, cancel));
  if (add_bos && tokenizer.add_bos && tokenizer.bos &&
      (tokens.empty() || tokens.front() != *tokenizer.bos)) {
    tokens.insert(tokens.begin(), *tokenizer.bos);
  }
  return tokens;
}

}  // namespace kapitsa::text
