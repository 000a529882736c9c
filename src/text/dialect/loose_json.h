// JSON as models write it when nothing holds them to it.
#pragma once

#include <optional>
#include <string_view>

#include "base/json.h"

namespace kapitsa::text {

// One whole value and nothing else but white space. Beyond JSON it takes Python's literals (True,
// False, None, strings in single quotes), line breaks and unknown escapes in strings, and commas
// too many. nullopt for what is no value even so, or is nested deeper than 128 levels.
std::optional<Json> read_loose_json(std::string_view text);

}  // namespace kapitsa::text
