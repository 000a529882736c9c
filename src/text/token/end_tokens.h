// Which tokens end a generation.
#pragma once

#include "text/token/tokenizer.h"

namespace kapitsa::text {

// Adds `id` to tokenizer.eos once.
void add_eos_id(Tokenizer& tokenizer, TokenId id);

// Adds the special tokens by whose spelling chat models are known to end a turn or a text.
void add_known_ends(Tokenizer& tokenizer);

}  // namespace kapitsa::text
