// Rewrites text before words are looked for: the normalizer of a tokenizer.json.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "text/token/splitter.h"
#include "text/unicode/normalize.h"

namespace kapitsa::text {

class Normalizer {
 public:
  class Step {
   public:
    virtual ~Step() = default;
    // True where apply() is sure to change nothing; cheap.
    virtual bool keeps(std::string_view) const { return false; }
    // Rewrites `text`. `marks` (may be null) is kept as long as `text`: each new byte gets the smallest
    // mark of what it was made from.
    virtual Status apply(std::string& text, std::string* marks) const = 0;
  };

  void add(std::unique_ptr<Step> step) { steps_.push_back(std::move(step)); }
  bool empty() const { return steps_.empty(); }
  bool keeps(std::string_view text) const;
  Status apply(std::string& text, std::string* marks) const;

 private:
  std::vector<std::unique_ptr<Step>> steps_;
};

std::unique_ptr<Normalizer::Step> form_step(Form form);
std::unique_ptr<Normalizer::Step> replace_step(SplitterPtr pattern, std::string content);
std::unique_ptr<Normalizer::Step> prepend_step(std::string content);
std::unique_ptr<Normalizer::Step> strip_step(bool left, bool right);
std::unique_ptr<Normalizer::Step> lowercase_step();

// `json`: the value of "normalizer", null for none.
Result<Normalizer> read_normalizer(const Json& json);

}  // namespace kapitsa::text
