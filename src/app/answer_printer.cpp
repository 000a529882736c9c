#include "app/answer_printer.h"

#include "app/terminal.h"

namespace kapitsa::app {

std::string without_controls(std::string_view text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F) {
      if (byte != '\r' || next != '\n') out += kReplacement;
    } else if (byte == 0xC2 && next >= 0x80 && next < 0xA0) {  // U+0080 to U+009F
      out += kReplacement;
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

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
