// Splitters by character class and by literal text.
#include "text/token/splitter.h"
#include "text/unicode/properties.h"
#include "text/unicode/utf8.h"

namespace kapitsa::text {
namespace {

void add_gap(size_t begin, size_t end, std::vector<Part>& parts) {
  if (begin < end) parts.push_back({begin, end, false});
}

class CharacterSplitter : public Splitter {
 public:
  explicit CharacterSplitter(bool (*matches)(char32_t)) : matches_(matches) {}

  Status split(std::string_view text, std::vector<Part>& parts) const override {
    size_t gap = 0;
    for (size_t at = 0; at < text.size();) {
      const Decoded c = decode(text, at);
      const size_t next = at + c.length;
      if (matches_(c.point)) {
        add_gap(gap, at, parts);
        parts.push_back({at, next, true});
        gap = next;
      }
      at = next;
    }
    add_gap(gap, text.size(), parts);
    return Status();
  }

 private:
  bool (*matches_)(char32_t);
};

class WordSplitter : public Splitter {
 public:
  Status split(std::string_view text, std::vector<Part>& parts) const override {
    enum class Class { kWord, kSpace, kOther };
    const auto class_of = [](char32_t c) {
      return is_word(c) ? Class::kWord : is_space(c) ? Class::kSpace : Class::kOther;
    };
    Class current = Class::kSpace;
    for (size_t at = 0; at < text.size();) {
      const Decoded c = decode(text, at);
      const Class found = class_of(c.point);
      if (at == 0 || found != current) parts.push_back({at, at, found != Class::kSpace});
      current = found;
      at += c.length;
      parts.back().end = at;
    }
    return Status();
  }
};

class LiteralSplitter : public Splitter {
 public:
  explicit LiteralSplitter(std::string literal) : literal_(std::move(literal)) {}

  Status split(std::string_view text, std::vector<Part>& parts) const override {
    size_t gap = 0;
    if (!literal_.empty()) {
      for (size_t at; (at = text.find(literal_, gap)) != std::string_view::npos;) {
        add_gap(gap, at, parts);
        gap = at + literal_.size();
        parts.push_back({at, gap, true});
      }
    }
    add_gap(gap, text.size(), parts);
    return Status();
  }

 private:
  std::string literal_;
};

}  // namespace

SplitterPtr character_splitter(bool (*matches)(char32_t)) {
  return std::make_shared<CharacterSplitter>(matches);
}
SplitterPtr word_splitter() { return std::make_shared<WordSplitter>(); }
SplitterPtr literal_splitter(std::string literal) {
  return std::make_shared<LiteralSplitter>(std::move(literal));
}

}  // namespace kapitsa::text
