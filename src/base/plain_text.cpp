#include "base/plain_text.h"

#include <algorithm>

namespace kapitsa {
namespace {

// U+202A to U+202E and U+2066 to U+2069.
bool turns_direction(std::string_view c) {
  if (c.size() < 3 || c[0] != '\xE2') return false;
  const auto last = static_cast<unsigned char>(c[2]);
  return (c[1] == '\x80' && last >= 0xAA && last <= 0xAE) || (c[1] == '\x81' && last >= 0xA6 && last <= 0xA9);
}

}  // namespace

std::string without_controls(std::string_view text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F) {
      if (byte != '\r' || next != '\n') out += kReplacement;
    } else if (byte == 0xC2 && next >= 0x80 && next < 0xA0) {  // U+0080 to U+009F
      out += kReplacement;
      ++i;
    } else if (turns_direction(text.substr(i, 3))) {
      out += kReplacement;
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string one_line(std::string_view text) {
  std::string out = without_controls(text);
  std::replace_if(out.begin(), out.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return out;
}

}  // namespace kapitsa
