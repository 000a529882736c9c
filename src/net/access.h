// Who may talk to a server on this machine: its own programs, not every web page that a browser shows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kapitsa::net {

// "127.0.0.1", "::1", "localhost" and the like: an address that other machines cannot reach.
bool is_loopback(std::string_view host);

// Whether a Host header (with or without a port) names this machine. A page elsewhere can make its own
// name point to 127.0.0.1; the header still carries that name. `extra`: further names that are fine.
bool host_allowed(std::string_view header, const std::vector<std::string>& extra);

// Whether a browser page of `origin` may read answers: pages served from this machine, editors' web
// views, and `extra` ("*": any).
bool origin_allowed(std::string_view origin, const std::vector<std::string>& extra);

// Compares in a time that does not depend on where they differ.
bool same_secret(std::string_view given, std::string_view secret);

}  // namespace kapitsa::net
