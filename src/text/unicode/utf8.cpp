#include "text/unicode/utf8.h"

#include <cstring>

namespace kapitsa::text {

void append_utf8(std::string& out, char32_t c) {
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6);
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3F));
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

Sequence sequence_at(std::string_view text, size_t at) {
  const unsigned char lead = text[at];
  const int length = sequence_length(lead);
  if (length == 0) return {Sequence::kBad, 1};
  // The second byte's range also keeps out overlong forms, surrogates and values past U+10FFFF.
  unsigned char low = 0x80, high = 0xBF;
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  for (int i = 1; i < length; ++i) {
    if (at + i >= text.size()) return {Sequence::kCut, static_cast<uint8_t>(i)};
    const unsigned char byte = text[at + i];
    if (byte < low || byte > high) return {Sequence::kBad, static_cast<uint8_t>(i)};
    low = 0x80;
    high = 0xBF;
  }
  return {Sequence::kWhole, static_cast<uint8_t>(length)};
}

std::optional<size_t> find_invalid_utf8(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    if (at + 8 <= text.size()) {
      uint64_t word;
      std::memcpy(&word, text.data() + at, 8);
      if ((word & 0x8080808080808080u) == 0) {
        at += 8;
        continue;
      }
    }
    const Sequence found = sequence_at(text, at);
    if (found.kind != Sequence::kWhole) return at;
    at += found.length;
  }
  return std::nullopt;
}

}  // namespace kapitsa::text
