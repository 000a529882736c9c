#include "app/chat_input.h"

namespace kapitsa::app {
namespace {

constexpr std::string_view kBlock = "\"\"\"";

}  // namespace

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

bool MessageLines::add(std::string_view line) {
  const bool first = !open_;
  if (first && line.substr(0, kBlock.size()) == kBlock) {
    block_ = true;
    line.remove_prefix(kBlock.size());
    // What follows on the opening line is the first line, if it is anything.
    if (trimmed(line).empty()) {
      open_ = true;
      return false;
    }
  }
  const std::string_view end = line.substr(0, line.find_last_not_of(" \t") + 1);
  if (block_) {
    const bool closes =
        end.size() >= kBlock.size() && end.substr(end.size() - kBlock.size()) == kBlock;
    if (closes) line = end.substr(0, end.size() - kBlock.size());
    if (!text_.empty() && !(closes && line.empty())) text_ += '\n';
    text_ += line;
    open_ = !closes;
    if (closes) block_ = false;
    return closes;
  }
  if (!first) text_ += '\n';
  const bool goes_on = !line.empty() && line.back() == '\\';
  if (goes_on) line.remove_suffix(1);
  text_ += line;
  open_ = goes_on;
  return !goes_on;
}

std::string MessageLines::take() {
  std::string out = std::move(text_);
  *this = {};
  return out;
}

std::optional<ChatCommand> parse_command(std::string_view line) {
  if (line.empty() || line.front() != '/') return std::nullopt;
  const size_t end = std::min(line.find_first_of(" \t"), line.size());
  return ChatCommand{std::string(line.substr(1, end - 1)), std::string(trimmed(line.substr(end)))};
}

}  // namespace kapitsa::app
