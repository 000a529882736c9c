#include "text/dialect/reasoning.h"

#include <algorithm>

namespace kapitsa::text {
namespace {

constexpr std::string_view kOpen = "<think>";
constexpr std::string_view kClose = "</think>";

// The length of the longest suffix of `text` that line breaks and a beginning of `tag` make up.
size_t undecided(std::string_view text, std::string_view tag) {
  size_t keep = 0;
  for (size_t n = std::min(text.size(), tag.size() - 1); n > 0; --n) {
    if (text.substr(text.size() - n) == tag.substr(0, n)) {
      keep = n;
      break;
    }
  }
  while (keep < text.size() && text[text.size() - keep - 1] == '\n') ++keep;
  return keep;
}

void drop_front_breaks(std::string& text) { text.erase(0, text.find_first_not_of('\n')); }

}  // namespace

ReasoningSplitter::ReasoningSplitter(bool opened)
    : state_(opened ? State::kReasoning : State::kStart), after_tag_(false) {}

ReasoningSplitter::Part ReasoningSplitter::push(std::string_view text) {
  held_ += text;
  Part out;
  step(out, false);
  return out;
}

ReasoningSplitter::Part ReasoningSplitter::finish() {
  Part out;
  step(out, true);
  return out;
}

void ReasoningSplitter::step(Part& out, bool last) {
  if (state_ == State::kStart) {
    const size_t start = std::min(held_.find_first_not_of(" \t\r\n"), held_.size());
    const std::string_view rest = std::string_view(held_).substr(start);
    if (rest.substr(0, kOpen.size()) == kOpen) {
      held_.erase(0, start + kOpen.size());
      state_ = State::kReasoning;
    } else if (kOpen.substr(0, rest.size()) == rest && !last) {
      return;  // white space, or a beginning of the tag
    } else {
      state_ = State::kAnswer;
    }
  }
  if (state_ == State::kReasoning) {
    if (at_line_start_) drop_front_breaks(held_);
    if (!held_.empty()) at_line_start_ = false;
    const size_t close = held_.find(kClose);
    if (close == std::string::npos) {
      const size_t keep = last ? 0 : undecided(held_, kClose);
      out.reasoning += held_.substr(0, held_.size() - keep);
      held_.erase(0, held_.size() - keep);
      return;
    }
    std::string_view thought = std::string_view(held_).substr(0, close);
    while (!thought.empty() && thought.back() == '\n') thought.remove_suffix(1);
    out.reasoning += thought;
    held_.erase(0, close + kClose.size());
    state_ = State::kAnswer;
    after_tag_ = true;
  }
  if (after_tag_) drop_front_breaks(held_);
  if (!held_.empty()) after_tag_ = false;
  out.answer += held_;
  held_.clear();
}

}  // namespace kapitsa::text
