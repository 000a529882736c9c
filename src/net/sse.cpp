#include "net/sse.h"

namespace kapitsa::net {

std::string sse_event(std::string_view name, std::string_view data) {
  std::string out;
  if (!name.empty()) out.append("event: ").append(name).append("\n");
  size_t start = 0;
  while (true) {
    const size_t end = data.find('\n', start);
    out.append("data: ").append(data.substr(start, end - start)).append("\n");
    if (end == std::string_view::npos) break;
    start = end + 1;
  }
  return out.append("\n");
}

std::string sse_comment(std::string_view text) { return std::string(": ").append(text) + "\n\n"; }

}  // namespace kapitsa::net
