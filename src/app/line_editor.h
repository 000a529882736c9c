// Reads lines from a terminal, with editing and history (libedit).
#pragma once

#include <memory>
#include <string>

#include "app/interrupt.h"

namespace kapitsa::app {

class LineEditor {
 public:
  enum class End {
    kLine,
    kInterrupted,  // Ctrl-C; what was typed is in `text`, and is dropped
    kClosed,       // Ctrl-D on an empty line, or the terminal is gone
  };
  struct Line {
    End end;
    std::string text;  // without the line feed
  };

  // History is kept in `history_file` (0600; its folder is made); empty: in memory only.
  explicit LineEditor(std::string history_file);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  Line read(const std::string& prompt, Interrupt& interrupt);
  // Keeps a line for the arrow keys, now and in later chats.
  void remember(const std::string& line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// $XDG_STATE_HOME/kapitsa/history, or ~/.local/state/kapitsa/history; empty where there is no home.
std::string history_path();

}  // namespace kapitsa::app
