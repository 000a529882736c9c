// UTF-8: checking, decoding, encoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kapitsa::text {

// The length that a lead byte announces, 1 to 4; 0 for a byte that leads nothing.
inline int sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  return lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

struct Decoded {
  char32_t point;
  uint8_t length;
};

// The character at text[at]; `text` must be valid and `at` the start of one.
inline Decoded decode(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xE0) return {char32_t(lead & 0x1F) << 6 | (byte(1) & 0x3F), 2};
  if (lead < 0xF0) {
    return {char32_t(lead & 0x0F) << 12 | char32_t(byte(1) & 0x3F) << 6 | (byte(2) & 0x3F), 3};
  }
  return {char32_t(lead & 0x07) << 18 | char32_t(byte(1) & 0x3F) << 12 |
              char32_t(byte(2) & 0x3F) << 6 | (byte(3) & 0x3F),
          4};
}

// The start of the character before `at` > 0, in valid text.
inline size_t previous(std::string_view text, size_t at) {
  do --at;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  return at;
}

// Appends one scalar value.
void append_utf8(std::string& out, char32_t point);

// How the bytes at text[at] stand: a whole character, the begin of one that the text cuts off, or bad.
struct Sequence {
  enum Kind { kWhole, kCut, kBad } kind;
  uint8_t length;  // of the character; of the cut part; of the maximal subpart that U+FFFD replaces
};
Sequence sequence_at(std::string_view text, size_t at);

// The position of the first byte that is not UTF-8; nullopt for valid text.
std::optional<size_t> find_invalid_utf8(std::string_view text);

}  // namespace kapitsa::text
