// The events of a parser as a test compares them.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "text/dialect/parser.h"

namespace kapitsa::text {

// Everything that `parser` makes of `pieces`, neighbours merged: [["text", "..."], ["reasoning",
// "..."],
// ["call", NAME, ARGUMENTS], ["cut", NAME, "the arguments' text"], ["wrong", what]].
Json parse_all(DialectParser parser, const std::vector<std::string>& pieces);

}  // namespace kapitsa::text
