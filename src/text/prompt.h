// A conversation -> the token ids that the model reads.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "text/template/chat_template.h"
#include "text/token/tokenizer.h"

namespace kapitsa::text {

struct Prompt {
  std::vector<TokenId> tokens;
  bool opens_reasoning = false;  // the template wrote <think> last: the answer begins inside it
};

// Renders `input` with `chat_template` and tokenizes it; what users typed never becomes a special token.
// `bos_token` and `eos_token` are set from the tokenizer. `prefill` is text that the answer begins with,
// as if the model had said it. Errors: kUnsupported (`chat_template` is null:
// the model has none), the template's own, invalid UTF-8, that of `input.cancel`.
Result<Prompt> make_prompt(const ChatTemplate* chat_template, const Tokenizer& tokenizer,
                           TemplateInput input, std::string_view prefill = {});

// A text that is a prompt as it stands. `special`: its spellings of special tokens are meant as such
// (the caller wrote the template). BOS goes in front where the model's files ask for it and the text
// does not have it.
Result<std::vector<TokenId>> make_raw_prompt(const Tokenizer& tokenizer, std::string_view text,
                                             bool special, bool add_bos, const Cancel& cancel = {});

}  // namespace kapitsa::text
