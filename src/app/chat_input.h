// What a chat's user typed: a message, over one line or several, or a command.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kapitsa::app {

// Collects the lines of one message: """ begins and ends a block, a backslash at a line's end goes
// on.
class MessageLines {
 public:
  // Takes a line; true when the message is whole.
  bool add(std::string_view line);
  // Whether more lines are expected.
  bool open() const { return open_; }
  // The message so far; empties it.
  std::string take();

 private:
  std::string text_;
  bool open_ = false;
  bool block_ = false;
};

struct ChatCommand {
  std::string name;      // "save"
  std::string argument;  // the rest of the line, trimmed; may be empty
};

// "/save notes.md" -> {save, notes.md}; nothing for a line that does not begin with '/'.
std::optional<ChatCommand> parse_command(std::string_view line);

std::string_view trimmed(std::string_view text);

}  // namespace kapitsa::app
