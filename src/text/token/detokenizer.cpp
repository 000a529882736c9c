#include "text/token/tokenizer.h"
#include "text/unicode/utf8.h"

namespace kapitsa::text {
namespace {

constexpr std::string_view kReplacement = "\uFFFD";

// Takes what is decided off the front of `held`. A character that the end cuts off stays, unless
// `all`.
std::string take(std::string& held, bool all) {
  std::string out;
  size_t at = 0;
  while (at < held.size()) {
    const Sequence found = sequence_at(held, at);
    if (found.kind == Sequence::kCut && !all) break;
    if (found.kind == Sequence::kWhole) {
      out.append(held, at, found.length);
    } else {
      out += kReplacement;
    }
    at += found.length;
  }
  held.erase(0, at);
  return out;
}

}  // namespace

Detokenizer::Detokenizer(const Tokenizer& tokenizer, bool at_start)
    : tokenizer_(tokenizer), at_start_(at_start) {}

std::string Detokenizer::push(TokenId id) {
  std::string bytes = tokenizer_.bytes(id);
  if (bytes.empty()) return bytes;
  if (at_start_ && tokenizer_.strip_leading_space && bytes[0] == ' ') bytes.erase(0, 1);
  at_start_ = false;
  held_ += bytes;
  return take(held_, false);
}

std::string Detokenizer::finish() { return take(held_, true); }

}  // namespace kapitsa::text
