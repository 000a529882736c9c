#include "weights/printable.h"

#include <fmt/format.h>

namespace kapitsa::weights {

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 100)) {
    if (c >= 0x20 && c < 0x7f) {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  if (text.size() > 100) out += "...";
  return out;
}

}  // namespace kapitsa::weights
