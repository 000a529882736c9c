#include "text/dialect/json_string.h"

#include <cctype>

#include "text/unicode/utf8.h"

namespace kapitsa::text {

bool JsonStringDecoder::take(std::string_view text, size_t& at, std::string& out) {
  while (at < text.size()) {
    const char c = text[at++];
    switch (state_) {
      case State::kPlain:
        if (c == '\\') {
          state_ = State::kEscape;
          break;
        }
        flush_surrogate(out);
        if (c == quote_) return true;
        out += c;
        break;
      case State::kEscape:
        escape(c, out);
        break;
      case State::kHex:
        if (std::isxdigit(static_cast<unsigned char>(c))) {
          hex(c, out);
        } else {
          flush_surrogate(out);
          out += "\\u" + digits_;
          state_ = State::kPlain;
          --at;
        }
        break;
    }
  }
  return false;
}

void JsonStringDecoder::escape(char c, std::string& out) {
  state_ = State::kPlain;
  if (c == 'u') {
    state_ = State::kHex;
    digits_.clear();
    return;
  }
  flush_surrogate(out);
  switch (c) {
    case 'b':
      out += '\b';
      break;
    case 'f':
      out += '\f';
      break;
    case 'n':
      out += '\n';
      break;
    case 'r':
      out += '\r';
      break;
    case 't':
      out += '\t';
      break;
    case '"':
    case '\'':
    case '\\':
    case '/':
      out += c;
      break;
    default:
      out += '\\';
      out += c;
  }
}

void JsonStringDecoder::hex(char c, std::string& out) {
  digits_ += c;
  if (digits_.size() < 4) return;
  state_ = State::kPlain;
  const auto unit = static_cast<char32_t>(std::stoul(digits_, nullptr, 16));
  if (high_ != 0 && unit >= 0xDC00 && unit < 0xE000) {
    append_utf8(out, 0x10000 + ((high_ - 0xD800) << 10) + (unit - 0xDC00));
    high_ = 0;
    return;
  }
  flush_surrogate(out);
  if (unit >= 0xD800 && unit < 0xDC00) {
    high_ = unit;
  } else {
    append_utf8(out, unit >= 0xDC00 && unit < 0xE000 ? 0xFFFD : unit);
  }
}

void JsonStringDecoder::flush_surrogate(std::string& out) {
  if (high_ != 0) append_utf8(out, 0xFFFD);
  high_ = 0;
}

}  // namespace kapitsa::text
