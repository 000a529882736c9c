// The family of Llama 3, Qwen 2 and Qwen 3.5, which differ in the marked places:
//   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*
//                                                  ^ [\p{L}\p{M}]+  ^ \p{N}     ^ [^\s\p{L}\p{M}\p{N}]+
//   |\s*[\r\n]+|\s+(?!\S)|\s+
#include "text/token/splitter.h"
#include "text/token/splitter_scan.h"

namespace kapitsa::text {
namespace {

bool is_newline(char c) { return c == '\r' || c == '\n'; }

size_t contraction_end(std::string_view text, size_t at) {
  const auto letter = [&](size_t i) {
    return i < text.size() ? static_cast<char>(text[i] | 0x20) : '\0';
  };
  const char first = letter(at + 1), second = letter(at + 2);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return at + 2;
  if ((first == 'r' || first == 'v') && second == 'e') return at + 3;
  if (first == 'l' && second == 'l') return at + 3;
  // U+017F, the long s, is an s where case does not matter.
  if (text.substr(at + 1).starts_with("\xC5\xBF")) return at + 3;
  return at;
}

class Cl100kSplitter : public Splitter {
 public:
  Cl100kSplitter(int max_digits, bool marks) : max_digits_(max_digits), marks_(marks) {}

  Status split(std::string_view text, std::vector<Part>& parts) const override {
    for (size_t at = 0; at < text.size();) {
      const size_t end = match_end(text, at);
      parts.push_back({at, end, true});
      at = end;
    }
    return Status();
  }

 private:
  bool in_word(Kind k) const { return k == Kind::kLetter || (marks_ && k == Kind::kMark); }
  bool is_other(Kind k) const { return k == Kind::kOther || (!marks_ && k == Kind::kMark); }
  size_t word_end(std::string_view text, size_t at) const {
    return run_end(text, at, [&](Kind k) { return in_word(k); });
  }

  size_t match_end(std::string_view text, size_t at) const {
    if (text[at] == '\'') {
      if (const size_t end = contraction_end(text, at); end > at) return end;
    }
    const Scanned first = scan(text, at);
    if (in_word(first.kind)) return word_end(text, first.next);
    if (first.kind == Kind::kNumber) {
      size_t end = first.next;
      for (int digits = 1; digits < max_digits_ && end < text.size(); ++digits) {
        const Scanned c = scan(text, end);
        if (c.kind != Kind::kNumber) break;
        end = c.next;
      }
      return end;
    }
    // Any one character but a newline goes with the word after it.
    if (!is_newline(text[at]) && first.next < text.size()) {
      const Scanned second = scan(text, first.next);
      if (in_word(second.kind)) return word_end(text, second.next);
    }
    const size_t other = text[at] == ' ' ? first.next : at;
    if (other < text.size() && is_other(scan(text, other).kind)) {
      size_t end = run_end(text, other, [&](Kind k) { return is_other(k); });
      while (end < text.size() && is_newline(text[end])) ++end;
      return end;
    }
    const size_t end = run_end(text, at, [](Kind k) { return k == Kind::kSpace; });
    for (size_t i = end; i > at; --i) {
      if (is_newline(text[i - 1])) return i;
    }
    return space_end(text, at, end);
  }

  int max_digits_;
  bool marks_;
};

}  // namespace

SplitterPtr cl100k_splitter(int max_digits, bool marks_join_letters) {
  return std::make_shared<Cl100kSplitter>(max_digits, marks_join_letters);
}

}  // namespace kapitsa::text
