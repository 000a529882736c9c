#include "app/chat_session.h"

#include <fmt/format.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "app/terminal.h"
#include "base/plain_text.h"
#include "base/say.h"

namespace kapitsa::app {
namespace {

constexpr std::string_view kHelp =
    "/help           this list\n"
    "/clear          forget the conversation; the system text stays\n"
    "/system [TEXT]  show the system text, or set it; \"/system -\" removes it\n"
    "/think on|off   let the model think before it answers, where its template can\n"
    "/stats          what this chat took; \"/stats on|off\": under each answer\n"
    "/save FILE      write the conversation: as JSON if FILE ends in .json, else as text\n"
    "/exit           leave, as Ctrl-D does\n"
    "\"\"\" begins and ends a message of several lines; so does a backslash at a line's end.\n"
    "Ctrl-C stops an answer. A message that begins with / needs a space before it.\n";

Status put_or_stop(std::string_view text) {
  return put(text) ? Status() : output_status();
}

}  // namespace

ChatSession::ChatSession(engine::Engine& engine, const RunOptions& options, const Globals& globals,
                         Interrupt& interrupt)
    : engine_(engine),
      options_(options),
      globals_(globals),
      interrupt_(interrupt),
      sampling_(options.sampling.over(engine.info().sampling)),
      conversation_(options.raw),
      statistics_(options.statistics && !globals.quiet) {
  conversation_.system = options.system;
  conversation_.think = options.think;
}

Status ChatSession::check() const {
  Conversation probe(options_.raw);
  probe.user("?");
  return options_.raw || engine_.chat_template() != nullptr ? Status()
                                                            : probe.prompt(engine_).status();
}

Status ChatSession::handle(const std::string& message, bool& leave) {
  const bool one_line = message.find('\n') == std::string::npos;
  if (const auto found = parse_command(message); found && one_line) return command(*found, leave);
  return ask_model(options_.raw ? message : std::string(trimmed(message)));
}

Status ChatSession::command(const ChatCommand& command, bool& leave) {
  const std::string& name = command.name;
  if (name == "help" || name == "?") return put_or_stop(kHelp);
  if (name == "exit" || name == "quit" || name == "bye") {
    leave = true;
    return {};
  }
  if (name == "clear") {
    conversation_.clear();
    last_context_ = 0;
    return put_or_stop("The conversation is forgotten.\n");
  }
  if (name == "system") return set_system(command.argument);
  if (name == "think") return set_thinking(command.argument);
  if (name == "save") return save(command.argument);
  if (name == "stats") {
    if (command.argument == "on" || command.argument == "off")
      statistics_ = command.argument == "on";
    show_totals();
    return {};
  }
  return error(Code::kInvalid,
               "there is no command /{}; /help lists them, and a message may begin with a space",
               without_controls(name));
}

Status ChatSession::set_system(const std::string& text) {
  if (options_.raw) return error(Code::kInvalid, "with --raw there is no system text");
  if (text.empty()) {
    return put_or_stop(conversation_.system.empty()
                           ? "There is no system text.\n"
                           : without_controls(conversation_.system) + "\n");
  }
  conversation_.system = text == "-" ? "" : text;
  return put_or_stop(text == "-" ? "The system text is removed.\n" : "The system text is set.\n");
}

Status ChatSession::set_thinking(const std::string& word) {
  if (!engine_.info().can_think) {
    return error(Code::kUnsupported, "the template of {} has no thinking switch",
                 engine_.info().id);
  }
  if (word != "on" && word != "off") return error(Code::kInvalid, "/think takes on or off");
  conversation_.think = word == "on";
  return put_or_stop(fmt::format("Thinking is {}.\n", word));
}

Status ChatSession::ask_model(const std::string& message) {
  conversation_.user(message);
  auto prompt = conversation_.prompt(engine_);
  if (!prompt.ok()) {
    conversation_.drop_last();
    return prompt.status();
  }
  engine::Request request;
  request.prompt = std::move(prompt->tokens);
  request.max_tokens = options_.max_tokens;
  request.sampling = sampling_;
  AnswerPrinter printer(true, has_colours(stdout), true);
  const auto answer = ask(engine_, std::move(request), {!options_.raw, prompt->opens_reasoning},
                          printer, interrupt_);
  if (!answer.ok()) {
    conversation_.drop_last();
    if (answer.status().code() != Code::kExhausted) return answer.status();
    return error(Code::kExhausted, "{}; /clear begins anew", answer.message());
  }
  if (answer->text.empty() && answer->interrupted) {
    conversation_.drop_last();
  } else {
    conversation_.assistant(answer->text, answer->reasoning);
  }
  ++answers_;
  total_.prompt_tokens += answer->usage.prompt_tokens;
  total_.completion_tokens += answer->usage.completion_tokens;
  total_.prefill_s += answer->usage.prefill_s;
  total_.decode_s += answer->usage.decode_s;
  last_context_ = answer->usage.prompt_tokens + answer->usage.completion_tokens;
  // A question that is asked again gets another answer; a chat with --seed can still be repeated.
  ++sampling_.seed;
  if (statistics_) {
    const bool dim = has_colours(stderr);
    say("{}{}{}\n", dim ? kDim : "", statistics(*answer), dim ? kPlain : "");
  }
  return {};
}

Status ChatSession::save(const std::string& file) {
  namespace fs = std::filesystem;
  if (file.empty()) return error(Code::kInvalid, "/save takes a file's name");
  std::error_code code;
  if (fs::exists(file, code) && saved_.count(file) == 0) {
    return error(Code::kInvalid, "{} exists already; name another file", file);
  }
  const std::string text =
      fs::path(file).extension() == ".json"
          ? conversation_.messages().dump(2, ' ', false, Json::error_handler_t::replace) + "\n"
          : conversation_.transcript();
  const std::string part = fmt::format("{}.{}.part", file, getpid());
  std::ofstream out(part, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out || (fs::rename(part, file, code), code)) {
    fs::remove(part, code);
    return error(Code::kUnavailable, "{} cannot be written", file);
  }
  saved_.insert(file);
  return put_or_stop(fmt::format("Saved to {}.\n", file));
}

void ChatSession::show_totals() const {
  const auto speed = [](int tokens, double seconds) { return seconds > 0 ? tokens / seconds : 0; };
  put(
      fmt::format("{} answer{}: {} prompt tokens ({:.0f} tok/s), {} answer tokens ({:.1f} tok/s); "
                  "{} of {} tokens of "
                  "context used; {}\n",
                  answers_, answers_ == 1 ? "" : "s", total_.prompt_tokens,
                  speed(total_.prompt_tokens, total_.prefill_s), total_.completion_tokens,
                  speed(total_.completion_tokens - answers_, total_.decode_s), last_context_,
                  engine_.info().context, to_text(sampling_)));
}

}  // namespace kapitsa::app
