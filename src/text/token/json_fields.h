// Typed fields of a tokenizer.json, each error naming the field and where it stands.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/status.h"

namespace kapitsa::text {

// The field, or null where it is missing; `object` may be of any type.
const Json& field(const Json& object, std::string_view key);

// The value, or `otherwise` where it is missing or null.
Result<bool> bool_field(const Json& object, std::string_view key, bool otherwise,
                        std::string_view where);
Result<std::string> string_field(const Json& object, std::string_view key, std::string_view otherwise,
                                 std::string_view where);
// The field "type", which must be there.
Result<std::string> type_of(const Json& object, std::string_view where);

// A pattern {"String": ...} or {"Regex": ...}.
struct PatternField {
  bool is_regex;
  std::string text;
};
Result<PatternField> pattern_field(const Json& object, std::string_view where);

// The list of a Sequence.
Result<const Json*> sequence_field(const Json& object, std::string_view key, std::string_view where);

}  // namespace kapitsa::text
