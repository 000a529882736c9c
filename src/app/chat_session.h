// What a chat does with a message or a command.
#pragma once

#include <set>
#include <string>

#include "app/chat_input.h"
#include "app/conversation.h"
#include "app/interrupt.h"
#include "app/run_options.h"
#include "app/turn.h"

namespace kapitsa::app {

class ChatSession {
 public:
  ChatSession(engine::Engine& engine, const RunOptions& options, const Globals& globals,
              Interrupt& interrupt);

  // Whether this model can be talked to at all. Error: kUnsupported, no template.
  Status check() const;
  // Carries out a command or asks the model; prints what comes. A failure leaves the conversation
  // as it was. `leave` is set by /exit.
  Status handle(const std::string& message, bool& leave);

 private:
  Status command(const ChatCommand& command, bool& leave);
  Status ask_model(const std::string& message);
  Status set_system(const std::string& text);
  Status set_thinking(const std::string& word);
  Status save(const std::string& file);
  void show_totals() const;

  engine::Engine& engine_;
  const RunOptions& options_;
  const Globals& globals_;
  Interrupt& interrupt_;
  engine::Sampling sampling_;
  Conversation conversation_;
  bool statistics_;
  int answers_ = 0;
  engine::Usage total_;
  int last_context_ = 0;         // tokens of the last prompt and its answer
  std::set<std::string> saved_;  // files that this chat wrote: it may write them again
};

}  // namespace kapitsa::app
