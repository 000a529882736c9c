#include "app/server.h"

#include "app/routes.h"
#include "net/access.h"
#include "net/server.h"

namespace kapitsa::app {

Status check(const ServeOptions& options) {
  if (net::is_loopback(options.net.host)) return {};
  if (!options.api_key.empty() || options.insecure_public) return {};
  return error(Code::kInvalid,
               "--host {} lets other machines in, and there is no key: set one with --api-key (or "
               "KAPITSA_API_KEY), or insist with --insecure-public",
               options.net.host);
}

std::string url_of(const std::string& host, int port) {
  const bool v6 = host.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}", v6 ? "[" : "", host, v6 ? "]" : "", port);
}

Status serve(engine::Engine& engine, const ServeOptions& options,
             const std::function<void(int port, std::function<void()> stop)>& ready) {
  KAPITSA_RETURN_IF_ERROR(check(options));
  const api::Service service{engine, options.aliases};
  Routes routes(service, {options.api_key, net::is_loopback(options.net.host), options.allow_hosts,
                          options.allow_origins});
  KAPITSA_ASSIGN(auto server, net::Server::bind(options.net, routes.handlers()));
  ready(server->port(), [raw = server.get()] { raw->stop(); });
  server->run();
  return {};
}

}  // namespace kapitsa::app
