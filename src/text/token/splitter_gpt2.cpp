// GPT-2: 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
#include "text/token/splitter.h"
#include "text/token/splitter_scan.h"

namespace kapitsa::text {
namespace {

size_t contraction_end(std::string_view text, size_t at) {
  for (const std::string_view ending : {"s", "t", "re", "ve", "m", "ll", "d"}) {
    if (text.substr(at + 1).starts_with(ending)) return at + 1 + ending.size();
  }
  return at;
}

class Gpt2Splitter : public Splitter {
 public:
  Status split(std::string_view text, std::vector<Part>& parts) const override {
    for (size_t at = 0; at < text.size();) {
      const size_t end = match_end(text, at);
      parts.push_back({at, end, true});
      at = end;
    }
    return Status();
  }

 private:
  static size_t match_end(std::string_view text, size_t at) {
    if (text[at] == '\'') {
      if (const size_t end = contraction_end(text, at); end > at) return end;
    }
    // A space goes with the word after it.
    const size_t word = text[at] == ' ' && at + 1 < text.size() ? at + 1 : at;
    const Kind kind = scan(text, word).kind;
    switch (kind) {
      case Kind::kLetter:
      case Kind::kNumber:
        return run_end(text, word, [&](Kind k) { return k == kind; });
      case Kind::kMark:
      case Kind::kOther:
        return run_end(text, word, [](Kind k) { return k == Kind::kMark || k == Kind::kOther; });
      case Kind::kSpace:
        break;
    }
    return space_end(text, at, run_end(text, at, [](Kind k) { return k == Kind::kSpace; }));
  }
};

}  // namespace

SplitterPtr gpt2_splitter() { return std::make_shared<Gpt2Splitter>(); }

}  // namespace kapitsa::text
