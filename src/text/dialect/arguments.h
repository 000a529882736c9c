// The JSON text of a call's arguments, written member by member while the model writes them.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "text/dialect/tools.h"

namespace kapitsa::text {

// What take() gives concatenates to one JSON object once close() was called. Strings come out as
// they come in; other values when they are whole, as their schema wants them. A second value for a
// key is left out, and so is a null for a member that need not be there and must not be null.
class ArgumentWriter {
 public:
  ArgumentWriter() = default;
  explicit ArgumentWriter(Schema parameters) : parameters_(parameters) {}

  // Begins a member. `quoted`: what comes is the inside of a JSON string; otherwise it is a text
  // that stands for whatever the schema says.
  void begin(const std::string& key, bool quoted);
  // More of the value; valid UTF-8.
  void text(std::string_view piece);
  void end();
  // A whole member.
  void member(const std::string& key, Json value);
  void close();

  bool has(const std::string& key) const { return keys_.count(key) > 0; }
  // Whether the schema names `key`.
  bool knows(const std::string& key) const { return parameters_.has_member(key); }
  // What was written since the last take().
  std::string take();

 private:
  void put_key();
  void put_value(const Json& value);
  bool may_be_null_word() const;

  Schema parameters_;
  std::string out_;
  std::set<std::string> keys_;
  bool any_ = false;  // a member was written

  // Of the member that is being written:
  std::string key_;
  Schema schema_;
  uint8_t types_ = kAnyType;
  bool quoted_ = false;
  bool dropped_ = false;
  bool streams_ = false;  // its opening quote is written
  std::string held_;      // of its value
};

}  // namespace kapitsa::text
