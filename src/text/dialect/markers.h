// Several markers looked for at once in a text that is still coming.
#pragma once

#include <string_view>
#include <vector>

#include "text/dialect/dialect.h"

namespace kapitsa::text {

class Markers {
 public:
  enum class State { kNone, kPart, kWhole };  // kPart: the text ends inside of what may become one
  struct Found {
    State state = State::kNone;
    size_t at = 0;      // where it begins
    size_t length = 0;  // of a whole one
    int id = 0;         // as add() named it
  };

  // No marker may begin another.
  void add(int id, const Spellings& spellings);

  // The first marker at or behind `from`, whole or cut off by the end of `text`.
  Found find(std::string_view text, size_t from) const;
  // The marker that begins at `at`.
  Found at(std::string_view text, size_t at) const;

 private:
  struct Marker {
    std::string_view text;
    int id;
  };
  std::vector<Marker> markers_;
};

inline constexpr std::string_view kWhiteSpace = " \t\r\n";

// `text` without the characters of `set` at its ends.
std::string_view trim(std::string_view text, std::string_view set);

// `at` behind white space.
size_t skip_space(std::string_view text, size_t at);

}  // namespace kapitsa::text
