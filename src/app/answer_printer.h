// Writes an answer to stdout while it comes.
#pragma once

#include <string>
#include <string_view>

namespace kapitsa::app {

class AnswerPrinter {
 public:
  // `thoughts`: what the model thinks is shown too, dim where `colours`. `terminal`: control
  // characters are replaced, so that no answer can move the cursor or rename the window.
  AnswerPrinter(bool terminal, bool colours, bool thoughts)
      : terminal_(terminal), colours_(colours), thoughts_(thoughts) {}

  // Nothing is written any more.
  void mute() { muted_ = true; }

  // All are false once stdout takes nothing more.
  bool thought(std::string_view text);
  bool answer(std::string_view text);
  // Ends the line that is open, and the dim letters.
  bool finish();

 private:
  enum class Part { kNone, kThought, kAnswer };

  bool write(Part part, std::string_view text);

  bool terminal_, colours_, thoughts_;
  Part part_ = Part::kNone;
  bool line_open_ = false;
  bool muted_ = false;
};

}  // namespace kapitsa::app
