#include "net/access.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>

#include "net/message.h"

namespace kapitsa::net {
namespace {

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && same_name(text.substr(text.size() - end.size()), end);
}

bool starts_with(std::string_view text, std::string_view start) {
  return same_name(text.substr(0, start.size()), start);
}

bool contains(const std::vector<std::string>& list, std::string_view one) {
  return std::any_of(list.begin(), list.end(),
                     [&](const std::string& entry) { return same_name(entry, one); });
}

// "host:port" or "[v6]:port" -> host.
std::string_view without_port(std::string_view authority) {
  if (!authority.empty() && authority.front() == '[') {
    const size_t close = authority.find(']');
    return close == std::string_view::npos ? authority : authority.substr(1, close - 1);
  }
  return authority.substr(0, authority.find(':'));
}

}  // namespace

bool is_loopback(std::string_view host) {
  if (same_name(host, "localhost") || ends_with(host, ".localhost") || host == "::1") return true;
  const bool numeric = host.find_first_not_of("0123456789.") == std::string_view::npos;
  return numeric && starts_with(host, "127.");
}

bool host_allowed(std::string_view header, const std::vector<std::string>& extra) {
  const std::string_view host = without_port(header);
  // Containers on this machine call it by Docker's name.
  return is_loopback(host) || same_name(host, "host.docker.internal") || contains(extra, host);
}

bool origin_allowed(std::string_view origin, const std::vector<std::string>& extra) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (starts_with(origin, scheme) && is_loopback(without_port(origin.substr(scheme.size())))) {
      return true;
    }
  }
  for (const std::string_view scheme : {"vscode-webview://", "vscode-file://", "app://", "tauri://"}) {
    if (starts_with(origin, scheme)) return true;
  }
  return contains(extra, origin) || contains(extra, "*");
}

bool same_secret(std::string_view given, std::string_view secret) {
  // Digests have one length, so that not even the secret's length shows.
  const auto digest = [](std::string_view text) {
    std::array<unsigned char, SHA256_DIGEST_LENGTH> out;
    SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), out.data());
    return out;
  };
  const auto a = digest(given), b = digest(secret);
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace kapitsa::net
