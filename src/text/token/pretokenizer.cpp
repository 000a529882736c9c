#include "text/token/pretokenizer.h"

#include "text/token/byte_alphabet.h"

namespace kapitsa::text {
namespace {

class SplitStep : public PreTokenizer::Step {
 public:
  SplitStep(SplitterPtr splitter, Behavior behavior, bool invert)
      : splitter_(std::move(splitter)), behavior_(behavior), invert_(invert) {}

  Status apply(Words& words) const override {
    std::vector<Range> cut;
    std::vector<Part> parts;
    for (size_t i = 0; i < words.ranges.size(); ++i) {
      parts.clear();
      KAPITSA_RETURN_IF_ERROR(splitter_->split(words.word(i), parts));
      text::apply(behavior_, invert_, parts);
      const size_t base = words.ranges[i].begin;
      for (const Part& part : parts) cut.push_back({base + part.begin, base + part.end});
    }
    words.ranges = std::move(cut);
    return Status();
  }

 private:
  SplitterPtr splitter_;
  Behavior behavior_;
  bool invert_;
};

class RewriteStep : public PreTokenizer::Step {
 public:
  explicit RewriteStep(std::string (*rewrite)(std::string_view)) : rewrite_(rewrite) {}

  Status apply(Words& words) const override {
    words.rewrite([&](size_t i) { return rewrite_(words.word(i)); });
    return Status();
  }

 private:
  std::string (*rewrite_)(std::string_view);
};

class MetaspaceStep : public PreTokenizer::Step {
 public:
  MetaspaceStep(std::string replacement, Prepend prepend, bool split)
      : replacement_(std::move(replacement)), prepend_(prepend) {
    if (split) split_ = split_step(literal_splitter(replacement_), Behavior::kMergedWithNext, false);
  }

  Status apply(Words& words) const override {
    words.rewrite([&](size_t i) {
      const bool first = words.starts_text && words.ranges[i].begin == 0;
      std::string out;
      for (const char c : words.word(i)) {
        if (c == ' ') {
          out += replacement_;
        } else {
          out += c;
        }
      }
      const bool wanted = prepend_ == Prepend::kAlways || (prepend_ == Prepend::kFirst && first);
      if (wanted && !out.starts_with(replacement_)) out.insert(0, replacement_);
      return out;
    });
    return split_ ? split_->apply(words) : Status();
  }

 private:
  std::string replacement_;
  Prepend prepend_;
  StepPtr split_;
};

}  // namespace

void PreTokenizer::add(std::unique_ptr<Step> step, std::string_view step_name) {
  steps_.push_back(std::move(step));
  if (step_name.empty()) return;
  if (name == "none") {
    name = step_name;
  } else {
    name.append(" + ").append(step_name);
  }
}

Status PreTokenizer::apply(Words& words) const {
  for (const auto& step : steps_) KAPITSA_RETURN_IF_ERROR(step->apply(words));
  return Status();
}

StepPtr split_step(SplitterPtr splitter, Behavior behavior, bool invert) {
  return std::make_unique<SplitStep>(std::move(splitter), behavior, invert);
}

StepPtr space_prefix_step() {
  return std::make_unique<RewriteStep>([](std::string_view word) {
    std::string out(word.starts_with(' ') ? "" : " ");
    return out.append(word);
  });
}

StepPtr to_alphabet_step() {
  return std::make_unique<RewriteStep>([](std::string_view word) { return to_alphabet(word); });
}

StepPtr from_alphabet_step() {
  // Only what to_alphabet_step wrote comes here, and steps between only cut it.
  return std::make_unique<RewriteStep>(
      [](std::string_view word) { return from_alphabet(word).value_or(std::string()); });
}

StepPtr metaspace_step(std::string replacement, Prepend prepend, bool split) {
  return std::make_unique<MetaspaceStep>(std::move(replacement), prepend, split);
}

}  // namespace kapitsa::text
