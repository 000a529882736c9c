// Character classes for the hand-written splitters.
#pragma once

#include <array>
#include <string_view>

#include "text/unicode/properties.h"
#include "text/unicode/utf8.h"

namespace kapitsa::text {

enum class Kind : uint8_t { kLetter, kMark, kNumber, kSpace, kOther };

inline Kind kind_of(char32_t c) {
  const Category k = category(c);
  if (is_letter(k)) return Kind::kLetter;
  if (is_mark(k)) return Kind::kMark;
  if (is_number(k)) return Kind::kNumber;
  return is_space(c) ? Kind::kSpace : Kind::kOther;
}

// A character of a text: its kind and where the next one begins.
struct Scanned {
  Kind kind;
  size_t next;
};

inline Scanned scan(std::string_view text, size_t at) {
  static const auto ascii = [] {
    std::array<Kind, 128> kinds{};
    for (char32_t c = 0; c < 128; ++c) kinds[c] = kind_of(c);
    return kinds;
  }();
  const unsigned char lead = text[at];
  if (lead < 0x80) return {ascii[lead], at + 1};
  const Decoded c = decode(text, at);
  return {kind_of(c.point), at + c.length};
}

// The end of the longest run from `at` whose characters' kinds satisfy `accept`.
template <class Accept>
size_t run_end(std::string_view text, size_t at, Accept accept) {
  while (at < text.size()) {
    const Scanned c = scan(text, at);
    if (!accept(c.kind)) break;
    at = c.next;
  }
  return at;
}

// The end of \s+(?!\S)|\s+ in the run of white space [at, end): all of it at the end of the text, else
// all but its last character, which goes with what follows; but at least one.
inline size_t space_end(std::string_view text, size_t at, size_t end) {
  if (end == text.size()) return end;
  const size_t last = previous(text, end);
  return last > at ? last : end;
}

}  // namespace kapitsa::text
