// Server-sent events.
#pragma once

#include <string>
#include <string_view>

namespace kapitsa::net {

// One event. An empty name writes no `event:` line; each line of `data` gets its own `data:` line.
std::string sse_event(std::string_view name, std::string_view data);
// A comment, which clients skip: shows that the stream is alive.
std::string sse_comment(std::string_view text);

}  // namespace kapitsa::net
