// Responses -> the bytes that go over the wire.
#pragma once

#include <string>
#include <string_view>

#include "net/message.h"

namespace kapitsa::net {

enum class Framing {
  kLength,   // the body is whole: Content-Length
  kChunked,  // HTTP/1.1 stream
  kClose,    // HTTP/1.0 stream: the end of the connection ends it
};

// The status line and headers, with the blank line. `length` counts with kLength only.
std::string write_head(const Response& response, Framing framing, size_t length, bool keep_alive);

// A part of a stream's body, framed. Empty bytes give nothing (an empty chunk would end the stream).
std::string write_part(std::string_view bytes, Framing framing);
// What ends a stream's body.
std::string_view write_end(Framing framing);

}  // namespace kapitsa::net
