// HTTP requests and responses as plain values: what the server hands out and takes back.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kapitsa::net {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct RequestHead {
  std::string method;  // "GET", "POST", ...
  std::string path;    // without the query, percent-decoded
  std::string query;   // as sent, without '?'
  Headers headers;
  bool http_1_0 = false;
  bool keep_alive = true;
  bool has_body = false;

  // The first header of that name (any letter case), or an empty view.
  std::string_view header(std::string_view name) const;
  bool has_header(std::string_view name) const;
};

struct Request {
  RequestHead head;
  std::string body;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  Headers headers;
  std::string body;
};

// Letter case does not matter in header names.
bool same_name(std::string_view a, std::string_view b);

}  // namespace kapitsa::net
