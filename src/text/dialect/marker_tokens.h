// The tokens that markers are.
#pragma once

#include <vector>

#include "text/dialect/dialect.h"
#include "text/token/tokenizer.h"

namespace kapitsa::text {

// The special tokens that spell a marker of `dialect`, of calls only if `calls`: some vocabularies
// make them special, and a parser that is not shown them sees neither thoughts nor calls.
std::vector<TokenId> marker_tokens(const Dialect& dialect, bool calls, const Tokenizer& tokenizer);

}  // namespace kapitsa::text
