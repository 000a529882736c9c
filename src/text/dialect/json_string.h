// The inside of a JSON string, decoded as it comes.
#pragma once

#include <string>
#include <string_view>

namespace kapitsa::text {

class JsonStringDecoder {
 public:
  // `quote` ends it: '"', or '\'' as Python writes.
  explicit JsonStringDecoder(char quote = '"') : quote_(quote) {}

  // Takes bytes of `text` from `at` on, up to and with the closing quote, and appends what they say
  // to `out`. True: closed. Control characters stand for themselves, an unknown escape for its two
  // characters, half a surrogate pair for U+FFFD.
  bool take(std::string_view text, size_t& at, std::string& out);

 private:
  enum class State { kPlain, kEscape, kHex };

  void escape(char c, std::string& out);
  void hex(char c, std::string& out);
  void flush_surrogate(std::string& out);

  char quote_;
  State state_ = State::kPlain;
  std::string digits_;  // of \uXXXX so far
  char32_t high_ = 0;   // the first half of a surrogate pair
};

}  // namespace kapitsa::text
