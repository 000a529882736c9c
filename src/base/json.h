// The one JSON type of the project: keys keep their order, because prompts are rendered from them.
#pragma once

#include <nlohmann/json.hpp>

#include "base/status.h"

namespace kapitsa {

using Json = nlohmann::ordered_json;

// Parses `text`; `what` names it in the error ("config.json", "request body"), which carries the
// byte offset of the fault. Nesting deeper than 256 levels is refused (a parser's stack is finite).
Result<Json> parse_json(std::string_view text, std::string_view what);

}  // namespace kapitsa
