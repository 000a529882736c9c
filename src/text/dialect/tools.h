// The tools that a request offers, and the JSON Schemas of their arguments, as far as a parser
// needs them: which types a value may have, and how one that was written otherwise becomes one of
// them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace kapitsa::text {

// The JSON types that a schema allows, as bits.
enum TypeBits : uint8_t {
  kNull = 1,
  kBoolean = 2,
  kInteger = 4,
  kNumber = 8,  // whole ones too
  kString = 16,
  kArray = 32,
  kObject = 64,
  kAnyType = 127,
};

// A schema inside the one of a tool's arguments, where its $ref point to. A default one allows
// anything.
struct Schema {
  const Json* root = nullptr;
  const Json* here = nullptr;

  // What is allowed, through $ref, anyOf, oneOf, allOf, enum and const; kAnyType where nothing is
  // said.
  uint8_t types() const;
  // Of the member `key` of an object; one that allows anything where it has none.
  Schema member(const std::string& key) const;
  Schema items() const;
  bool requires_member(const std::string& key) const;
  bool has_member(const std::string& key) const;
  // An alternative (anyOf, oneOf, allOf, behind $ref) that allows all of `types`, or this.
  Schema alternative(uint8_t types) const;
};

// `value` as the schema wants it, as far as it can be: "5" -> 5, 5.0 -> 5, "True" -> true, "[1]" ->
// [1], 5 -> "5", through all members and items. What cannot be is left as it is.
Json coerce(Json value, const Schema& schema);

// A value that a model wrote as bare text, by the schema: "5" stays a string where one is asked
// for. Text that is nothing of what is allowed becomes a string.
Json value_of(std::string_view text, const Schema& schema);

class ToolSet {
 public:
  ToolSet() = default;
  // `tools`: an array of {"type": "function", "function": {"name", "parameters"}}, or null for
  // none.
  explicit ToolSet(const Json& tools);

  bool empty() const { return parameters_.empty(); }
  bool has(const std::string& name) const { return parameters_.count(name) > 0; }
  // The schema of a tool's arguments; one that allows anything for an unknown tool.
  Schema parameters(const std::string& name) const;

 private:
  std::map<std::string, Json> parameters_;
};

}  // namespace kapitsa::text
