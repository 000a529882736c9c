#include "app/answer_printer.h"

#include "app/terminal.h"
#include "base/plain_text.h"

namespace kapitsa::app {

bool AnswerPrinter::write(Part part, std::string_view text) {
  if (text.empty() || muted_) return true;
  std::string out;
  if (part != part_) {
    if (colours_ && part == Part::kThought) out += kDim;
    if (part_ == Part::kThought) {
      if (colours_) out += kPlain;
      out += line_open_ ? "\n\n" : "\n";
    }
    part_ = part;
  }
  out += terminal_ ? without_controls(text) : std::string(text);
  line_open_ = out.back() != '\n';
  return put(out);
}

bool AnswerPrinter::thought(std::string_view text) {
  return !thoughts_ || write(Part::kThought, text);
}

bool AnswerPrinter::answer(std::string_view text) {
  return write(Part::kAnswer, text);
}

bool AnswerPrinter::finish() {
  std::string out;
  if (colours_ && part_ == Part::kThought) out += kPlain;
  if (line_open_) out += '\n';
  line_open_ = false;
  part_ = Part::kNone;
  return out.empty() || put(out);
}

}  // namespace kapitsa::app
