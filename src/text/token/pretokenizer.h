// From a run of ordinary text to the words that BPE sees: the pre_tokenizer of a tokenizer.json.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "text/token/splitter.h"

namespace kapitsa::text {

struct Range {
  size_t begin, end;
};

// A text cut into words. Steps cut further, drop words, or write the text anew.
class Words {
 public:
  Words(std::string_view text, bool starts_text)
      : text(text), ranges{{0, text.size()}}, starts_text(starts_text) {}
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;

  std::string_view word(size_t i) const {
    return text.substr(ranges[i].begin, ranges[i].end - ranges[i].begin);
  }
  // Replaces the text by what `rewrite(word index)` gives for each word.
  template <class Rewrite>
  void rewrite(Rewrite rewrite) {
    std::string fresh;
    std::vector<Range> moved;
    for (size_t i = 0; i < ranges.size(); ++i) {
      const size_t begin = fresh.size();
      fresh += rewrite(i);
      moved.push_back({begin, fresh.size()});
    }
    owned_ = std::move(fresh);
    text = owned_;
    ranges = std::move(moved);
  }

  std::string_view text;
  std::vector<Range> ranges;
  bool starts_text;  // the first word begins the whole prompt

 private:
  std::string owned_;
};

class PreTokenizer {
 public:
  class Step {
   public:
    virtual ~Step() = default;
    virtual Status apply(Words& words) const = 0;
  };

  void add(std::unique_ptr<Step> step, std::string_view name);
  Status apply(Words& words) const;

  // Words are bytes that a byte-level vocabulary spells, rather than characters.
  bool byte_level = false;
  std::string name = "none";

 private:
  std::vector<std::unique_ptr<Step>> steps_;
};

using StepPtr = std::unique_ptr<PreTokenizer::Step>;
StepPtr split_step(SplitterPtr splitter, Behavior behavior, bool invert);
StepPtr space_prefix_step();    // a space before each word that has none
StepPtr to_alphabet_step();     // bytes become the characters that stand for them
StepPtr from_alphabet_step();   // and back
enum class Prepend { kAlways, kFirst, kNever };
StepPtr metaspace_step(std::string replacement, Prepend prepend, bool split);

// `json`: the value of "pre_tokenizer", null for none.
Result<PreTokenizer> read_pretokenizer(const Json& json);

}  // namespace kapitsa::text
