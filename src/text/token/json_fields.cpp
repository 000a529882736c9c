#include "text/token/json_fields.h"

namespace kapitsa::text {
namespace {

// Files that people publish have up to about ten.
constexpr size_t kMaxSteps = 64;

}  // namespace

const Json& field(const Json& object, std::string_view key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto at = object.find(std::string(key));
  return at != object.end() ? *at : kNull;
}

Result<bool> bool_field(const Json& object, std::string_view key, bool otherwise,
                        std::string_view where) {
  const Json& value = field(object, key);
  if (value.is_null()) return otherwise;
  if (!value.is_boolean()) {
    return error(Code::kCorrupt, "{}.{} is a {}, not a boolean", where, key, value.type_name());
  }
  return value.get<bool>();
}

Result<std::string> string_field(const Json& object, std::string_view key, std::string_view otherwise,
                                 std::string_view where) {
  const Json& value = field(object, key);
  if (value.is_null()) return std::string(otherwise);
  if (!value.is_string()) {
    return error(Code::kCorrupt, "{}.{} is a {}, not a string", where, key, value.type_name());
  }
  return value.get<std::string>();
}

Result<std::string> type_of(const Json& object, std::string_view where) {
  if (!object.is_object()) {
    return error(Code::kCorrupt, "{} is a {}, not an object", where, object.type_name());
  }
  const Json& value = field(object, "type");
  if (!value.is_string()) return error(Code::kCorrupt, "{} has no string \"type\"", where);
  return value.get<std::string>();
}

Result<PatternField> pattern_field(const Json& object, std::string_view where) {
  const Json& pattern = field(object, "pattern");
  for (const bool is_regex : {false, true}) {
    const Json& value = field(pattern, is_regex ? "Regex" : "String");
    if (value.is_string()) return PatternField{is_regex, value.get<std::string>()};
  }
  return error(Code::kCorrupt, "{}.pattern has neither a \"String\" nor a \"Regex\"", where);
}

Result<const Json*> sequence_field(const Json& object, std::string_view key, std::string_view where) {
  const Json& parts = field(object, key);
  if (!parts.is_array()) return error(Code::kCorrupt, "{}.{} is not a list", where, key);
  if (parts.size() > kMaxSteps) {
    return error(Code::kUnsupported, "{}.{} has {} steps; at most {} are taken", where, key, parts.size(),
                 kMaxSteps);
  }
  return &parts;
}

}  // namespace kapitsa::text
