// The members of a JSON object, read while they come.
#pragma once

#include <string>
#include <string_view>

#include "text/dialect/arguments.h"
#include "text/dialect/json_string.h"

namespace kapitsa::text {

// One JSON value that is kept as its text.
class JsonValueScanner {
 public:
  // Takes `text` from `at` on, outside of strings up to `limit`, and appends it to `out`. True: the
  // value is whole; what ended it is left where it is.
  bool take(std::string_view text, size_t& at, size_t limit, std::string& out);
  // Whether it may end where it stands: a number or a literal.
  bool may_end() const { return depth_ == 0 && quote_ == 0; }

 private:
  int depth_ = 0;
  char quote_ = 0;  // of the string that it is in
  bool escaped_ = false;
};

// The members of the arguments, from behind their opening brace, written to an ArgumentWriter.
class JsonMembersReader {
 public:
  // True: the closing brace was read. Outside of strings it reads up to `limit` only.
  bool take(std::string_view text, size_t& at, size_t limit, ArgumentWriter& writer);
  // Ends it where it stands; false inside of a string, a key, or brackets that are open.
  bool stop(ArgumentWriter& writer);

 private:
  enum class State { kKey, kInKey, kColon, kValue, kInString, kInRaw };

  void put_raw(ArgumentWriter& writer);

  State state_ = State::kKey;
  JsonStringDecoder string_;
  JsonValueScanner scanner_;
  std::string key_;
  std::string raw_;
};

}  // namespace kapitsa::text
