#include "net/response_writer.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <boost/beast/http/status.hpp>
#include <ctime>

namespace kapitsa::net {
namespace {

// A value from elsewhere (a model's name, a request id) must not begin a header of its own.
std::string one_line(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return out;
}

std::string reason(int status) {
  if (status == 529) return "Overloaded";  // Anthropic's own
  const auto text = boost::beast::http::obsolete_reason(
      boost::beast::http::int_to_status(static_cast<unsigned>(status)));
  return std::string(text.data(), text.size());
}

}  // namespace

std::string write_head(const Response& response, Framing framing, size_t length, bool keep_alive) {
  std::string out =
      fmt::format("HTTP/1.1 {} {}\r\nServer: kapitsa\r\nDate: {:%a, %d %b %Y %H:%M:%S} GMT\r\n",
                  response.status, reason(response.status), fmt::gmtime(std::time(nullptr)));
  if (!response.content_type.empty()) {
    out += fmt::format("Content-Type: {}\r\n", one_line(response.content_type));
  }
  for (const auto& [name, value] : response.headers) {
    out += fmt::format("{}: {}\r\n", one_line(name), one_line(value));
  }
  const bool no_body = response.status == 204 || response.status == 304;
  if (framing == Framing::kLength && !no_body) out += fmt::format("Content-Length: {}\r\n", length);
  if (framing == Framing::kChunked) out += "Transfer-Encoding: chunked\r\n";
  out += keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  return out;
}

std::string write_part(std::string_view bytes, Framing framing) {
  if (bytes.empty()) return {};
  if (framing != Framing::kChunked) return std::string(bytes);
  return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
}

std::string_view write_end(Framing framing) {
  return framing == Framing::kChunked ? "0\r\n\r\n" : "";
}

}  // namespace kapitsa::net
