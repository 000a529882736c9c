#include "app/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/plain_text.h"
#include "base/say.h"

namespace kapitsa::app {
namespace {

int output_error = 0;

}  // namespace

bool is_terminal(std::FILE* stream) {
  return isatty(fileno(stream)) != 0;
}

bool has_colours(std::FILE* stream) {
  if (!is_terminal(stream)) return false;
  const char* no_colour = std::getenv("NO_COLOR");
  if (no_colour != nullptr && *no_colour != '\0') return false;
  const char* term = std::getenv("TERM");
  return term != nullptr && std::strcmp(term, "dumb") != 0;
}

bool put(std::string_view text) {
  if (output_error != 0) return false;
  // Ctrl-C interrupts a write, too; that is no fault of the output's.
  const auto failed = [] {
    if (errno == EINTR) std::clearerr(stdout);
    else output_error = errno != 0 ? errno : EIO;
    errno = 0;
    return output_error != 0;
  };
  errno = 0;
  while (!text.empty()) {
    text.remove_prefix(std::fwrite(text.data(), 1, text.size(), stdout));
    if (!text.empty() && failed()) return false;
  }
  while (std::fflush(stdout) != 0) {
    if (failed()) return false;
  }
  return true;
}

Status output_status() {
  errno = 0;
  if (output_error == 0 && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)) {
    output_error = errno != 0 ? errno : EIO;
  }
  if (output_error == 0) return {};
  if (output_error == EPIPE) return error(Code::kCancelled, "the output was closed");
  const Code code = output_error == ENOSPC ? Code::kExhausted : Code::kUnavailable;
  return error(code, "the output cannot be written: {}", std::strerror(output_error));
}

int fail(const Status& status) {
  if (status.code() == Code::kCancelled) return 0;
  // Messages quote names from files and requests: nothing in them may steer the terminal, or begin a line of its own.
  say("kapitsa: {}\n", one_line(status.message()));
  return 1;
}

}  // namespace kapitsa::app
