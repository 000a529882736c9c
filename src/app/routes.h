// The table of paths, and what stands before it: keys, origins, methods, content types.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/answer.h"
#include "api/service.h"
#include "net/handler.h"

namespace kapitsa::app {

struct AccessRules {
  std::string api_key;                     // empty: none is asked for
  bool check_host = true;                  // bound to loopback: only this machine's names are answered
  std::vector<std::string> extra_hosts;
  std::vector<std::string> extra_origins;
};

class Routes {
 public:
  Routes(const api::Service& service, AccessRules rules);

  // The three callbacks of a net::Server; this must outlive it.
  net::Handlers handlers();

 private:
  std::optional<net::Response> gate(const net::RequestHead& head) const;
  net::Reply handle(const net::Request& request, const Cancel& cancel) const;
  net::Reply generate(std::unique_ptr<api::Answer> answer, const net::RequestHead& head) const;
  net::Response fail(const api::Error& error, const net::RequestHead& head) const;
  net::Response whole(const Json& body, const net::RequestHead& head) const;
  net::Headers common_headers(const net::RequestHead& head, const std::string& request_id) const;

  const api::Service& service_;
  AccessRules rules_;
};

}  // namespace kapitsa::app
