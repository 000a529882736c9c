#include "app/routes.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "api/anthropic_messages.h"
#include "api/health.h"
#include "api/ids.h"
#include "api/models.h"
#include "api/openai_chat.h"
#include "api/openai_completions.h"
#include "app/generation.h"
#include "net/access.h"

namespace kapitsa::app {
namespace {

using api::Error;
using Endpoint = api::Outcome (*)(const api::Service&, const Json& body, const Cancel&);
using Page = api::Outcome (*)(const api::Service&, std::string_view rest);

struct Route {
  std::string_view method;
  std::string_view path;  // one that ends with '/' takes what follows as its `rest`
  Endpoint endpoint;      // of a POST: work, for a worker
  Page page;              // of a GET: answered at once, whatever the workers do
};

constexpr Route kRoutes[] = {
    {"POST", "/v1/chat/completions", api::openai_chat, nullptr},
    {"POST", "/v1/completions", api::openai_completions, nullptr},
    {"POST", "/v1/messages", api::anthropic_messages, nullptr},
    {"POST", "/v1/messages/count_tokens", api::anthropic_count_tokens, nullptr},
    {"GET", "/v1/models", nullptr,
     [](const api::Service& s, std::string_view) { return api::Outcome(list_models(s)); }},
    {"GET", "/v1/models/", nullptr,
     [](const api::Service& s, std::string_view rest) { return show_model(s, rest); }},
    {"GET", "/health", nullptr,
     [](const api::Service& s, std::string_view) { return api::Outcome(health(s)); }},
};

const Route* find_route(std::string_view path) {
  for (const Route& route : kRoutes) {
    const bool prefix = route.path.back() == '/';
    if (prefix ? path.size() > route.path.size() && path.substr(0, route.path.size()) == route.path
               : path == route.path) {
      return &route;
    }
  }
  return nullptr;
}

bool is_json(std::string_view content_type) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (!type.empty() && type.back() == ' ') type.remove_suffix(1);
  return net::same_name(type, "application/json") ||
         (type.size() > 5 && net::same_name(type.substr(type.size() - 5), "+json"));
}

// The key of a request: a Bearer token, or x-api-key.
std::string_view key_of(const net::RequestHead& head) {
  if (head.has_header("x-api-key")) return head.header("x-api-key");
  const std::string_view value = head.header("Authorization");
  constexpr std::string_view kBearer = "Bearer ";
  return net::same_name(value.substr(0, kBearer.size()), kBearer) ? value.substr(kBearer.size())
                                                                  : std::string_view();
}

api::Protocol protocol_of(const net::RequestHead& head) {
  return api::protocol_of(head.path, head.has_header("anthropic-version"));
}

Error make_error(int status, std::string code, std::string message) {
  Error out;
  out.status = status;
  out.code = std::move(code);
  out.message = std::move(message);
  return out;
}

}  // namespace

Routes::Routes(const api::Service& service, AccessRules rules)
    : service_(service), rules_(std::move(rules)) {}

net::Handlers Routes::handlers() {
  return {[this](const net::RequestHead& head) { return gate(head); },
          [this](const net::Request& request, const Cancel& cancel) { return handle(request, cancel); },
          [this](int status, const std::string& message, const net::RequestHead& head) {
            return fail(make_error(status, "", message), head);
          }};
}

std::optional<net::Response> Routes::gate(const net::RequestHead& head) const {
  const auto refuse = [&](int status, std::string code, std::string message) {
    return fail(make_error(status, std::move(code), std::move(message)), head);
  };
  if (rules_.check_host && head.has_header("Host") &&
      !net::host_allowed(head.header("Host"), rules_.extra_hosts)) {
    return refuse(403, "host_not_allowed",
                  fmt::format("requests to the name '{}' are not answered; if it is meant to reach "
                              "this server, serve with --allow-host NAME",
                              head.header("Host")));
  }
  if (head.has_header("Origin") &&
      !net::origin_allowed(head.header("Origin"), rules_.extra_origins)) {
    return refuse(403, "origin_not_allowed",
                  fmt::format("web pages of {} may not use this server; to let them, serve with "
                              "--allow-origin ORIGIN",
                              head.header("Origin")));
  }
  if (head.method == "OPTIONS") {
    net::Response out{204, "", common_headers(head, api::make_id("req_")), ""};
    out.headers.emplace_back("Allow", "GET, HEAD, POST, OPTIONS");
    return out;
  }
  if (!rules_.api_key.empty() && head.path != "/health" &&
      !net::same_secret(key_of(head), rules_.api_key)) {
    return refuse(401, "invalid_api_key",
                  "the key is missing or wrong: send the one that the server was started with, as "
                  "'Authorization: Bearer KEY' or 'x-api-key: KEY'");
  }
  const Route* route = find_route(head.path);
  if (!route) {
    return refuse(404, "not_found", fmt::format("there is no {} here", head.path));
  }
  const std::string_view method = head.method == "HEAD" ? "GET" : std::string_view(head.method);
  if (method != route->method) {
    net::Response out = refuse(405, "method_not_allowed",
                               fmt::format("{} takes {}, not {}", head.path, route->method,
                                           head.method));
    out.headers.emplace_back("Allow", route->method == "GET" ? "GET, HEAD, OPTIONS" : "POST, OPTIONS");
    return out;
  }
  if (route->page) {
    const bool prefix = route->path.back() == '/';
    const auto outcome = route->page(service_, prefix ? std::string_view(head.path).substr(route->path.size())
                                                      : std::string_view());
    if (const auto* error = std::get_if<Error>(&outcome)) return fail(*error, head);
    return whole(std::get<Json>(outcome), head);
  }
  if (head.has_header("Content-Encoding") && !net::same_name(head.header("Content-Encoding"), "identity")) {
    return refuse(415, "unsupported_encoding",
                  fmt::format("the body must come as it is, not with 'Content-Encoding: {}'",
                              head.header("Content-Encoding")));
  }
  if (head.has_header("Content-Type") && !is_json(head.header("Content-Type"))) {
    return refuse(415, "unsupported_media_type",
                  fmt::format("the body must be JSON: send 'Content-Type: application/json', not '{}'",
                              head.header("Content-Type")));
  }
  return std::nullopt;
}

net::Reply Routes::handle(const net::Request& request, const Cancel& cancel) const {
  const net::RequestHead& head = request.head;
  const auto body = parse_json(request.body, "request body");
  if (!body.ok()) return fail(api::from_status(body.status()), head);
  // The gate let it pass, so there is a route and it is a POST's.
  api::Outcome outcome = find_route(head.path)->endpoint(service_, *body, cancel);
  if (const auto* error = std::get_if<Error>(&outcome)) return fail(*error, head);
  if (const auto* json = std::get_if<Json>(&outcome)) return whole(*json, head);
  return generate(std::move(std::get<std::unique_ptr<api::Answer>>(outcome)), head);
}

net::Reply Routes::generate(std::unique_ptr<api::Answer> answer,
                            const net::RequestHead& head) const {
  std::vector<std::unique_ptr<engine::Stream>> streams;
  for (const engine::Request& request : answer->requests) {
    auto stream = service_.engine.submit(request);
    if (!stream.ok()) return fail(api::from_status(stream.status()), head);
    streams.push_back(*std::move(stream));
  }
  auto headers = common_headers(head, api::make_id("req_"));
  auto failure = [this, head](const Error& error) { return fail(error, head); };
  return std::make_unique<Generation>(std::move(answer), std::move(streams), std::move(headers),
                                      std::move(failure));
}

net::Response Routes::whole(const Json& body, const net::RequestHead& head) const {
  return {200, "application/json", common_headers(head, api::make_id("req_")), api::to_text(body)};
}

net::Response Routes::fail(const Error& error, const net::RequestHead& head) const {
  const api::Protocol protocol = protocol_of(head);
  const std::string id = api::make_id("req_");
  net::Response out;
  out.status = api::http_status(protocol, error);
  out.headers = common_headers(head, id);
  if (error.retry_after) out.headers.emplace_back("Retry-After", fmt::to_string(*error.retry_after));
  out.body = api::to_text(api::error_body(protocol, error, id));
  spdlog::log(out.status == 500 ? spdlog::level::err : spdlog::level::debug, "{} {}: {} {}", head.method,
              head.path, out.status, error.message);
  return out;
}

net::Headers Routes::common_headers(const net::RequestHead& head,
                                    const std::string& request_id) const {
  net::Headers out;
  const bool anthropic = protocol_of(head) == api::Protocol::kAnthropic;
  out.emplace_back(anthropic ? "request-id" : "x-request-id", request_id);
  const std::string_view origin = head.header("Origin");
  if (origin.empty() || !net::origin_allowed(origin, rules_.extra_origins)) return out;
  out.emplace_back("Access-Control-Allow-Origin", origin);
  out.emplace_back("Vary", "Origin");
  if (head.method != "OPTIONS") return out;
  out.emplace_back("Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS");
  const std::string_view wanted = head.header("Access-Control-Request-Headers");
  out.emplace_back("Access-Control-Allow-Headers", wanted.empty() ? "Content-Type" : wanted);
  out.emplace_back("Access-Control-Max-Age", "86400");
  if (head.has_header("Access-Control-Request-Private-Network")) {
    out.emplace_back("Access-Control-Allow-Private-Network", "true");
  }
  return out;
}

}  // namespace kapitsa::app
