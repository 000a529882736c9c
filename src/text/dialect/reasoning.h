// Keeps what a model thinks (<think> ... </think>) apart from what it answers, while it streams.
#pragma once

#include <string>
#include <string_view>

namespace kapitsa::text {

class ReasoningSplitter {
 public:
  struct Part {
    std::string reasoning;
    std::string answer;
  };

  // `opened`: the template already wrote <think> at the end of the prompt. Otherwise only a <think>
  // that begins the text counts: further on it is a text about tags.
  explicit ReasoningSplitter(bool opened);

  // What of the text so far is certain. Holds back what may be a part of a tag and the line breaks
  // beside one: they belong to the format, not to the text.
  Part push(std::string_view text);
  // The rest, at the end of the stream.
  Part finish();

  bool thinking() const { return state_ == State::kReasoning; }

 private:
  enum class State { kStart, kReasoning, kAnswer };

  void step(Part& out, bool last);

  State state_;
  bool at_line_start_ = true;  // line breaks at the start of a part are dropped
  bool after_tag_;             // the answer follows a thought: its first line breaks are dropped
  std::string held_;
};

}  // namespace kapitsa::text
