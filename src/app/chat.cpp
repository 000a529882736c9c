#include "app/chat.h"

#include <fmt/format.h>

#include "app/chat_input.h"
#include "app/chat_session.h"
#include "app/line_editor.h"
#include "app/open_model.h"
#include "app/terminal.h"

namespace kapitsa::app {
namespace {

// One message of one or more lines. `leave` is set where the user is done.
std::string read_message(LineEditor& editor, Interrupt& interrupt, bool& leave) {
  MessageLines lines;
  bool asked_to_leave = false;
  for (;;) {
    const LineEditor::Line line = editor.read(lines.open() ? "... " : ">>> ", interrupt);
    if (line.end == LineEditor::End::kClosed) {
      put("\n");
      leave = true;
      return {};
    }
    if (line.end == LineEditor::End::kInterrupted) {
      const bool nothing_typed = line.text.empty() && !lines.open();
      if (nothing_typed && asked_to_leave) {
        put("\n");
        leave = true;
        return {};
      }
      asked_to_leave = nothing_typed;
      lines.take();
      put(nothing_typed ? "^C  (again, or Ctrl-D, to leave)\n" : "^C\n");
      continue;
    }
    asked_to_leave = false;
    editor.remember(line.text);
    if (!lines.open() && trimmed(line.text).empty()) continue;
    if (lines.add(line.text)) return lines.take();
  }
}

}  // namespace

int chat(const RunOptions& options, const Globals& globals) {
  auto engine = open_engine(options.model, {options.context, options.threads, 1, options.memory}, globals);
  if (!engine.ok()) return fail(engine.status());
  Interrupt interrupt;
  ChatSession session(**engine, options, globals, interrupt);
  // Better now than after the first message.
  if (const Status status = session.check(); !status.ok()) return fail(status);
  note_idle_switch(options.think, **engine, globals);
  LineEditor editor(history_path());
  if (!globals.quiet) {
    put(fmt::format("{} ({} tokens of context). /help lists commands, Ctrl-D leaves.\n",
                    (*engine)->info().id, (*engine)->info().context));
  }
  bool leave = false;
  while (!leave) {
    const std::string message = read_message(editor, interrupt, leave);
    if (leave) break;
    const Status status = session.handle(message, leave);
    if (status.code() == Code::kCancelled) return 0;  // the terminal is gone
    if (!status.ok()) fail(status);
  }
  return 0;
}

}  // namespace kapitsa::app
