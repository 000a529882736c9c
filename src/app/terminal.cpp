#include "app/terminal.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

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
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    output_error = errno != 0 ? errno : EIO;
  }
  return output_error == 0;
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
  fmt::print(stderr, "kapitsa: {}\n", status.message());
  return 1;
}

}  // namespace kapitsa::app
