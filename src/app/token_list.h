// Token ids as people hand them over.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/globals.h"
#include "base/status.h"

namespace kapitsa::app {

// `source` is a list ("1,2,3"), a text file of ids (separated by spaces, commas or lines, brackets
// around them or not), a .safetensors file with a one-dimensional int32 tensor `tokens`, or "-" for
// text on stdin. Errors: kNotFound, kInvalid (what is no id, and where), kCorrupt.
Result<std::vector<int32_t>> read_tokens(const std::string& source, const Globals& globals);

// The ids in `text`; `what` names it in errors.
Result<std::vector<int32_t>> parse_tokens(std::string_view text, std::string_view what);

}  // namespace kapitsa::app
