// Cuts text where a pattern matches: the step from text to words before BPE.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace kapitsa::text {

// text[begin .. end); `matched`: by the pattern, else what lies between two matches.
struct Part {
  size_t begin, end;
  bool matched;
};

class Splitter {
 public:
  virtual ~Splitter() = default;
  // Appends the parts of `text` (valid UTF-8), which cover it in order. Fails only where a pattern
  // takes too many steps.
  virtual Status split(std::string_view text, std::vector<Part>& parts) const = 0;
};
using SplitterPtr = std::shared_ptr<const Splitter>;

// What becomes of the matches.
enum class Behavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

// Turns the parts of one text into the pieces that `behavior` leaves, none of them empty. `invert`: the
// gaps count as the matches.
void apply(Behavior behavior, bool invert, std::vector<Part>& parts);

// The patterns of model families, written by hand.
SplitterPtr gpt2_splitter();
// The later family of patterns (cl100k's, Llama 3's, Qwen's): numbers in groups of `max_digits`; where
// `marks_join_letters`, combining marks are part of words.
SplitterPtr cl100k_splitter(int max_digits, bool marks_join_letters);

// Each character for which `matches` holds.
SplitterPtr character_splitter(bool (*matches)(char32_t));
SplitterPtr word_splitter();  // \w+|[^\w\s]+
SplitterPtr literal_splitter(std::string literal);
// Any other pattern, by PCRE2; the syntax that Oniguruma reads differently is refused.
Result<SplitterPtr> regex_splitter(const std::string& pattern);

struct NamedSplitter {
  SplitterPtr splitter;
  std::string name;  // the family; "regex" for a pattern of none
};
// The splitter for a pattern of tokenizer.json: a hand-written one where it is spelled as known.
Result<NamedSplitter> splitter_for(const std::string& pattern);

}  // namespace kapitsa::text
