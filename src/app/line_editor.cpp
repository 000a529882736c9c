#include "app/line_editor.h"

#include <fcntl.h>
#include <histedit.h>
#include <langinfo.h>
#include <poll.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <string_view>

#include "text/unicode/utf8.h"

namespace kapitsa::app {
namespace {

constexpr int kHistoryLines = 1000;

volatile std::sig_atomic_t resized = 0;
termios terminal_before;

// Asks the terminal to say where a paste begins and ends.
void mark_pastes(bool on) {
  const char* term = std::getenv("TERM");
  if (term == nullptr || std::strcmp(term, "dumb") == 0) return;
  const std::string_view text = on ? "\x1b[?2004h" : "\x1b[?2004l";
  [[maybe_unused]] const auto written = write(STDOUT_FILENO, text.data(), text.size());
}

void on_resize(int) {
  resized = 1;
}

// Killed while a line is edited: the shell gets its terminal back as it was.
void on_end(int signal) {
  tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

// libedit measures and prints characters by the locale; a bare container has none that knows UTF-8.
void use_utf8_locale() {
  std::setlocale(LC_CTYPE, "");
  if (std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0) return;
  for (const char* name : {"C.UTF-8", "en_US.UTF-8", "UTF-8"}) {
    if (std::setlocale(LC_CTYPE, name) != nullptr) return;
  }
}

}  // namespace

struct LineEditor::State {
  EditLine* edit = nullptr;
  History* history = nullptr;
  HistEvent event{};
  std::string file;
  std::string prompt;
  Interrupt* interrupt = nullptr;
  bool interrupted = false;
  std::string typed;       // when it was interrupted
  std::deque<char> ahead;  // bytes that were read and are to be read again
  bool pasting = false;    // between the terminal's marks of a paste

  static State* of(EditLine* edit) {
    void* state = nullptr;
    el_get(edit, EL_CLIENTDATA, &state);
    return static_cast<State*>(state);
  }

  static char* show_prompt(EditLine* edit) { return of(edit)->prompt.data(); }

  // One byte from the terminal: 1; 0 at its end; -1 on Ctrl-C.
  int next_byte(unsigned char& byte) {
    for (;;) {
      pollfd wanted[] = {{STDIN_FILENO, POLLIN, 0}, {interrupt->fd(), POLLIN, 0}};
      const int ready = poll(wanted, 2, -1);
      if (resized) {
        resized = 0;
        el_resize(edit);
      }
      if (ready < 0) continue;  // a signal
      if (interrupt->take()) {
        const LineInfo* line = el_line(edit);
        typed.assign(line->buffer, line->lastchar);
        interrupted = true;
        errno = EINTR;
        return -1;
      }
      if (wanted[0].revents == 0) continue;
      const ssize_t n = ::read(STDIN_FILENO, &byte, 1);
      if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      return n == 1 ? 1 : 0;
    }
  }

  // Whether the terminal has sent exactly `sequence` next. What it sent instead waits in `ahead`.
  bool comes(std::string_view sequence) {
    std::string seen;
    for (const char wanted : sequence) {
      pollfd more{STDIN_FILENO, POLLIN, 0};
      char byte = 0;
      if (poll(&more, 1, 30) != 1 || ::read(STDIN_FILENO, &byte, 1) != 1) break;
      seen += byte;
      if (byte != wanted) break;
    }
    if (seen == sequence) return true;
    ahead.insert(ahead.end(), seen.begin(), seen.end());
    return false;
  }

  // libedit's own reader swallows the first interrupted read. Bytes are read as UTF-8 whatever the
  // locale says. Line breaks and tabs in a paste are text: libedit takes
  // them after ^V.
  static int next_character(EditLine* edit, wchar_t* out) {
    constexpr unsigned char kEscape = 0x1B, kQuote = 0x16, kControlD = 0x04;
    State* state = of(edit);
    std::string bytes;
    for (;;) {
      unsigned char byte = 0;
      if (!state->ahead.empty()) {
        byte = static_cast<unsigned char>(state->ahead.front());
        state->ahead.pop_front();
      } else {
        if (const int n = state->next_byte(byte); n != 1) return n;
        // Ctrl-D that was typed before libedit took the terminal: the line discipline kept it as 0.
        if (byte == 0) byte = kControlD;
        if (byte == kEscape && state->comes(state->pasting ? "[201~" : "[200~")) {
          state->pasting = !state->pasting;
          continue;
        }
        if (state->pasting && byte < 0x20) {
          state->ahead.push_back(byte == '\r' ? '\n' : static_cast<char>(byte));
          byte = kQuote;
        }
      }
      bytes += static_cast<char>(byte);
      const text::Sequence sequence = text::sequence_at(bytes, 0);
      if (sequence.kind == text::Sequence::kCut) continue;
      if (sequence.kind == text::Sequence::kWhole) {
        *out = static_cast<wchar_t>(text::decode(bytes, 0).point);
        return 1;
      }
      bytes.clear();  // not UTF-8: not typed
    }
  }
};

LineEditor::LineEditor(std::string history_file) : state_(std::make_unique<State>()) {
  use_utf8_locale();
  State& s = *state_;
  s.file = std::move(history_file);
  tcgetattr(STDIN_FILENO, &terminal_before);
  handle(SIGWINCH, on_resize);
  handle(SIGTERM, on_end);
  handle(SIGHUP, on_end);
  s.edit = el_init("kapitsa", stdin, stdout, stderr);
  s.history = history_init();
  el_set(s.edit, EL_CLIENTDATA, state_.get());
  el_set(s.edit, EL_PROMPT, &State::show_prompt);
  el_set(s.edit, EL_EDITOR, "emacs");
  el_set(s.edit, EL_GETCFN, &State::next_character);
  history(s.history, &s.event, H_SETSIZE, kHistoryLines);
  history(s.history, &s.event, H_SETUNIQUE, 1);
  el_set(s.edit, EL_HIST, ::history, s.history);
  el_set(s.edit, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_source(s.edit, nullptr);  // the user's ~/.editrc
  if (s.file.empty()) return;
  std::error_code code;
  const auto folder = std::filesystem::path(s.file).parent_path();
  std::filesystem::create_directories(folder, code);
  // What people ask is theirs alone.
  const int made = open(s.file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (made >= 0) close(made);
  if (!code && made >= 0) {
    history(s.history, &s.event, H_LOAD, s.file.c_str());
  } else {
    s.file.clear();
  }
}

LineEditor::~LineEditor() {
  el_end(state_->edit);
  history_end(state_->history);
  for (const int signal : {SIGWINCH, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
}

LineEditor::Line LineEditor::read(const std::string& prompt, Interrupt& interrupt) {
  State& s = *state_;
  s.prompt = prompt;
  s.interrupt = &interrupt;
  s.interrupted = false;
  s.ahead.clear();
  s.pasting = false;
  int count = 0;
  mark_pastes(true);
  const char* line = el_gets(s.edit, &count);
  mark_pastes(false);
  if (s.interrupted) {
    el_reset(s.edit);
    return {End::kInterrupted, s.typed};
  }
  if (line == nullptr || count <= 0) return {End::kClosed, {}};
  std::string text(line, static_cast<size_t>(count));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return {End::kLine, std::move(text)};
}

void LineEditor::remember(const std::string& line) {
  if (line.find_first_not_of(" \t") == std::string::npos) return;
  State& s = *state_;
  history(s.history, &s.event, H_ENTER, line.c_str());
  // Now, so that a chat that ends badly keeps it too.
  if (!s.file.empty()) history(s.history, &s.event, H_SAVE, s.file.c_str());
}

std::string history_path() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return std::string(state) + "/kapitsa/history";
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return "";
  return std::string(home) + "/.local/state/kapitsa/history";
}

}  // namespace kapitsa::app
