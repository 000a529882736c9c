#include "text/token/normalizer.h"

#include <algorithm>

#include "text/unicode/properties.h"
#include "text/unicode/utf8.h"

namespace kapitsa::text {
namespace {

class FormStep : public Normalizer::Step {
 public:
  explicit FormStep(Form form) : form_(form) {}
  bool keeps(std::string_view text) const override {
    return form_ == Form::kNfc && is_surely_nfc(text);
  }
  Status apply(std::string& text, std::string* marks) const override {
    text = normalize(text, form_, marks);
    return Status();
  }

 private:
  Form form_;
};

// Text under construction, with the marks of what it is made from.
class Rewriter {
 public:
  Rewriter(std::string& text, std::string* marks) : source_(text), marks_(marks) {}
  ~Rewriter() {
    source_ = std::move(out_);
    if (marks_ != nullptr) *marks_ = std::move(out_marks_);
  }
  void copy(size_t begin, size_t end) {
    out_.append(source_, begin, end - begin);
    if (marks_ != nullptr) out_marks_.append(*marks_, begin, end - begin);
  }
  // `content` in place of source[begin .. end), which is not empty.
  void put(std::string_view content, size_t begin, size_t end) {
    out_ += content;
    if (marks_ == nullptr) return;
    out_marks_.append(content.size(),
                      *std::min_element(marks_->begin() + begin, marks_->begin() + end));
  }

 private:
  std::string& source_;
  std::string* marks_;
  std::string out_, out_marks_;
};

class ReplaceStep : public Normalizer::Step {
 public:
  ReplaceStep(SplitterPtr pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  Status apply(std::string& text, std::string* marks) const override {
    std::vector<Part> parts;
    KAPITSA_RETURN_IF_ERROR(pattern_->split(text, parts));
    Rewriter rewriter(text, marks);
    for (const Part& part : parts) {
      if (part.matched) {
        rewriter.put(content_, part.begin, part.end);
      } else {
        rewriter.copy(part.begin, part.end);
      }
    }
    return Status();
  }

 private:
  SplitterPtr pattern_;
  std::string content_;
};

class PrependStep : public Normalizer::Step {
 public:
  explicit PrependStep(std::string content) : content_(std::move(content)) {}
  bool keeps(std::string_view text) const override { return text.empty(); }
  Status apply(std::string& text, std::string* marks) const override {
    if (text.empty()) return Status();
    text.insert(0, content_);
    if (marks != nullptr) marks->insert(0, content_.size(), marks->front());
    return Status();
  }

 private:
  std::string content_;
};

class StripStep : public Normalizer::Step {
 public:
  StripStep(bool left, bool right) : left_(left), right_(right) {}
  Status apply(std::string& text, std::string* marks) const override {
    size_t begin = 0, end = text.size();
    while (left_ && begin < end) {
      const Decoded c = decode(text, begin);
      if (!is_space(c.point)) break;
      begin += c.length;
    }
    while (right_ && end > begin) {
      const size_t last = previous(text, end);
      if (!is_space(decode(text, last).point)) break;
      end = last;
    }
    text = text.substr(begin, end - begin);
    if (marks != nullptr) *marks = marks->substr(begin, end - begin);
    return Status();
  }

 private:
  bool left_, right_;
};

class LowercaseStep : public Normalizer::Step {
 public:
  Status apply(std::string& text, std::string* marks) const override {
    const std::string source = text;
    Rewriter rewriter(text, marks);
    for (size_t at = 0; at < source.size();) {
      const Decoded c = decode(source, at);
      std::string lower;
      append_lower(lower, c.point);
      rewriter.put(lower, at, at + c.length);
      at += c.length;
    }
    return Status();
  }
};

}  // namespace

bool Normalizer::keeps(std::string_view text) const {
  return std::all_of(steps_.begin(), steps_.end(), [&](const auto& step) { return step->keeps(text); });
}

Status Normalizer::apply(std::string& text, std::string* marks) const {
  // No real normalizer makes a text eighteen times as long (NFKD of U+FDFA) more than once.
  const size_t before = text.size(), limit = 4096 + 32 * before;
  for (const auto& step : steps_) {
    if (!step->keeps(text)) KAPITSA_RETURN_IF_ERROR(step->apply(text, marks));
    if (text.size() > limit) {
      return error(Code::kCorrupt, "the tokenizer's normalizer makes {} bytes of {}; at most {} are right",
                   text.size(), before, limit);
    }
  }
  return Status();
}

std::unique_ptr<Normalizer::Step> form_step(Form form) { return std::make_unique<FormStep>(form); }
std::unique_ptr<Normalizer::Step> replace_step(SplitterPtr pattern, std::string content) {
  return std::make_unique<ReplaceStep>(std::move(pattern), std::move(content));
}
std::unique_ptr<Normalizer::Step> prepend_step(std::string content) {
  return std::make_unique<PrependStep>(std::move(content));
}
std::unique_ptr<Normalizer::Step> strip_step(bool left, bool right) {
  return std::make_unique<StripStep>(left, right);
}
std::unique_ptr<Normalizer::Step> lowercase_step() { return std::make_unique<LowercaseStep>(); }

}  // namespace kapitsa::text
