#include "net/request_reader.h"

#include <fmt/format.h>

#include <cstring>

namespace kapitsa::net {
namespace {

namespace http = boost::beast::http;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Percent-decodes a path; what is not a valid escape stays as it is.
std::string decode_path(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
        hex_digit(text[i + 2]) >= 0) {
      out += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

// "http://host/path", as one writes to a proxy, is "/path".
std::string_view without_authority(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!same_name(target.substr(0, scheme.size()), scheme)) continue;
    const size_t path = target.find('/', scheme.size());
    return path == target.npos ? "/" : target.substr(path);
  }
  return target;
}

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

RequestReader::RequestReader(ReadLimits limits) : limits_(limits) { reset(); }

void RequestReader::reset() {
  parser_.emplace();
  parser_->header_limit(static_cast<uint32_t>(limits_.head));
  parser_->body_limit(limits_.body);
  // The parser pauses behind the head, so that a request can be refused before its body is read.
  parser_->eager(false);
  head_ = {};
  head_seen_ = false;
  started_ = buffer_.size() > 0;
  raw_ = 0;
}

void RequestReader::add(std::string_view bytes) {
  const auto room = buffer_.prepare(bytes.size());
  std::memcpy(room.data(), bytes.data(), bytes.size());
  buffer_.commit(bytes.size());
  started_ = true;
}

RequestReader::State RequestReader::fail(int status, std::string text) {
  // What there is of the head tells in which protocol's shape the error goes out.
  if (!head_seen_) read_head();
  error_status_ = status;
  error_text_ = std::move(text);
  return State::kFailed;
}

bool RequestReader::read_head() {
  head_ = {};
  const auto& message = parser_->get();
  head_.method = std::string(view(message.method_string()));
  const std::string_view target = without_authority(view(message.target()));
  const size_t mark = target.find('?');
  head_.path = decode_path(target.substr(0, mark));
  if (mark != std::string_view::npos) head_.query = std::string(target.substr(mark + 1));
  for (const auto& field : message) {
    head_.headers.emplace_back(std::string(view(field.name_string())),
                               std::string(view(field.value())));
  }
  head_.http_1_0 = message.version() == 10;
  head_.keep_alive = message.keep_alive();
  // The parser may only be asked once its head is done; a refused one never is.
  head_.has_body = parser_->is_header_done() &&
                   (parser_->chunked() || parser_->content_length_remaining().value_or(0) > 0);
  return message.version() == 10 || message.version() == 11;
}

RequestReader::State RequestReader::advance() {
  if (error_status_ != 0) return State::kFailed;
  while (!parser_->is_done()) {
    boost::beast::error_code ec;
    const size_t used = parser_->put(buffer_.data(), ec);
    buffer_.consume(used);
    raw_ += used;
    if (!head_seen_ && parser_->is_header_done()) {
      head_seen_ = true;
      if (!read_head()) return fail(505, "this server speaks HTTP/1.1 and HTTP/1.0");
      if (head_.has_header("Transfer-Encoding") && !parser_->chunked()) {
        return fail(501, "the only Transfer-Encoding this server reads is chunked");
      }
      if (!ec || ec == http::error::need_more) {
        parser_->eager(true);
        return State::kHead;
      }
    }
    // What wraps a chunk (its extension, the trailer) is neither head nor body to the parser, and has its limits here.
    if (head_seen_ && !parser_->is_done() && buffer_.size() > limits_.head) {
      return fail(400, fmt::format("a chunk's head or the trailer is longer than {} bytes", limits_.head));
    }
    if (raw_ > limits_.head + 2 * limits_.body) {
      return fail(413, fmt::format("the request has more than {} bytes in all", limits_.head + 2 * limits_.body));
    }
    if (ec == http::error::need_more) return State::kNeedMore;
    if (ec == http::error::header_limit || ec == http::error::buffer_overflow) {
      return fail(431, fmt::format("the request's headers are longer than {} bytes", limits_.head));
    }
    if (ec == http::error::body_limit) {
      return fail(413, fmt::format("the request's body is longer than {} bytes", limits_.body));
    }
    if (ec == http::error::bad_version) {
      return fail(505, "this server speaks HTTP/1.1 and HTTP/1.0");
    }
    if (ec) return fail(400, fmt::format("not a valid HTTP request: {}", ec.message()));
    if (used == 0 && !parser_->is_done()) return State::kNeedMore;
  }
  return State::kDone;
}

Request RequestReader::take() {
  Request request{std::move(head_), std::move(parser_->get().body())};
  reset();
  return request;
}

}  // namespace kapitsa::net
