// Bytes of one connection -> HTTP/1.x requests, without a socket.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "net/message.h"
#include "net/options.h"

namespace kapitsa::net {

class RequestReader {
 public:
  enum class State {
    kNeedMore,  // nothing to do before more bytes come
    kHead,      // the head is complete: look at head(), then advance() on
    kDone,      // the request is complete: take() it
    kFailed,    // not HTTP, or over a limit: error_status() and error_text(); the connection is lost
  };

  explicit RequestReader(ReadLimits limits);

  void add(std::string_view bytes);
  State advance();

  const RequestHead& head() const { return head_; }
  // The finished request. Bytes behind it stay and begin the next one.
  Request take();
  // True between requests: not a byte of the next one has come.
  bool empty() const { return !started_; }
  size_t buffered() const { return buffer_.size(); }
  bool in_body() const { return head_seen_; }

  int error_status() const { return error_status_; }
  const std::string& error_text() const { return error_text_; }

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

  void reset();
  bool read_head();
  State fail(int status, std::string text);

  ReadLimits limits_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  RequestHead head_;
  bool started_ = false;
  bool head_seen_ = false;
  size_t raw_ = 0;  // bytes of this request, however they are wrapped
  int error_status_ = 0;
  std::string error_text_;
};

}  // namespace kapitsa::net
