// The byte-level alphabet of GPT-2: a printable character for each byte, so that vocabularies are text.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "text/unicode/utf8.h"

namespace kapitsa::text {

// Printable Latin-1 bytes stand for themselves, the other 68 for U+0100 and on, in order.
inline const std::array<char32_t, 256>& byte_alphabet() {
  static const auto table = [] {
    std::array<char32_t, 256> result{};
    char32_t next = 0x100;
    for (char32_t b = 0; b < 256; ++b) {
      const bool printable = (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
      result[b] = printable ? b : next++;
    }
    return result;
  }();
  return table;
}

// The text that stands for `bytes`.
inline std::string to_alphabet(std::string_view bytes) {
  std::string out;
  for (const char b : bytes) append_utf8(out, byte_alphabet()[static_cast<unsigned char>(b)]);
  return out;
}

// The bytes that `text` (valid UTF-8) stands for; nullopt where it has a character of no byte.
inline std::optional<std::string> from_alphabet(std::string_view text) {
  static const auto inverse = [] {
    std::array<int16_t, 0x144> result;
    result.fill(-1);
    for (int b = 0; b < 256; ++b) result[byte_alphabet()[b]] = static_cast<int16_t>(b);
    return result;
  }();
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const Decoded c = decode(text, at);
    if (c.point >= inverse.size() || inverse[c.point] < 0) return std::nullopt;
    out.push_back(static_cast<char>(inverse[c.point]));
    at += c.length;
  }
  return out;
}

}  // namespace kapitsa::text
