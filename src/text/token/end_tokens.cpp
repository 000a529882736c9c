#include "text/token/end_tokens.h"

#include <algorithm>

namespace kapitsa::text {

void add_eos_id(Tokenizer& tokenizer, TokenId id) {
  if (std::find(tokenizer.eos.begin(), tokenizer.eos.end(), id) == tokenizer.eos.end()) {
    tokenizer.eos.push_back(id);
  }
}

void add_known_ends(Tokenizer& tokenizer) {
  const auto special = [&](std::string_view piece) -> std::optional<TokenId> {
    const auto id = tokenizer.find(piece);
    return id && tokenizer.is_special(*id) ? id : std::nullopt;
  };
  for (const std::string_view piece :
       {"<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|eot|>",
        "<|return|>", "<|call|>", "<end_of_turn>", "</s>", "<|end_of_turn|>", "<|endofturn|>",
        "<｜end▁of▁sentence｜>"}) {
    if (const auto id = special(piece)) add_eos_id(tokenizer, *id);
  }
  // In the harmony format <|end|> closes one message of a turn that goes on.
  const bool harmony = special("<|return|>") && special("<|call|>");
  if (const auto id = special("<|end|>"); id && !harmony) add_eos_id(tokenizer, *id);
}

}  // namespace kapitsa::text
