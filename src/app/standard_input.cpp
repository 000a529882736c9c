#include "app/standard_input.h"
#include "base/say.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace kapitsa::app {
namespace {

constexpr size_t kLargestInput = size_t{64} << 20;

}  // namespace

Result<std::string> read_standard_input(const Globals& globals) {
  pollfd waiting{STDIN_FILENO, POLLIN, 0};
  if (poll(&waiting, 1, 1000) == 0 && !globals.quiet) {
    say("kapitsa: waiting for the rest of the prompt on standard input\n");
  }
  std::string text;
  std::vector<char> part(1 << 16);
  for (;;) {
    const ssize_t n = read(STDIN_FILENO, part.data(), part.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      return error(Code::kUnavailable, "standard input cannot be read: {}", std::strerror(errno));
    if (n == 0) return text;
    text.append(part.data(), static_cast<size_t>(n));
    if (text.size() > kLargestInput) {
      return error(Code::kInvalid, "standard input has more than {} MB, which is no prompt",
                   kLargestInput >> 20);
    }
  }
}

}  // namespace kapitsa::app
