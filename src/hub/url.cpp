#include "hub/url.h"

#include <curl/curl.h>

#include <cctype>
#include <memory>

namespace kapitsa::hub {
namespace {

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, FreeUrl>;

std::string part(CURLU* url, CURLUPart which, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, which, &text, flags) != CURLUE_OK) return "";
  std::string copy(text);
  curl_free(text);
  return copy;
}

std::string escaped(std::string_view text, bool keep_slash) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 128 && std::isalnum(byte)) || c == '-' || c == '_' || c == '.' || c == '~' ||
        (c == '/' && keep_slash)) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", byte);
    }
  }
  return out;
}

}  // namespace

Result<std::string> origin(const std::string& text) {
  const Url url(curl_url());
  if (curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) {
    return error(Code::kInvalid, "'{}' is not a URL", text);
  }
  const std::string scheme = part(url.get(), CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https") {
    return error(Code::kInvalid, "'{}': only http and https are spoken here", text);
  }
  return fmt::format("{}://{}:{}", scheme, part(url.get(), CURLUPART_HOST),
                     part(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT));
}

std::string host_of(const std::string& text) {
  const Url url(curl_url());
  if (curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) return text;
  const std::string port = part(url.get(), CURLUPART_PORT);
  return part(url.get(), CURLUPART_HOST) + (port.empty() ? "" : ":" + port);
}

Result<std::string> redirect_target(const std::string& base, const std::string& location) {
  const Url url(curl_url());
  if (curl_url_set(url.get(), CURLUPART_URL, base.c_str(), 0) != CURLUE_OK ||
      curl_url_set(url.get(), CURLUPART_URL, location.c_str(), 0) != CURLUE_OK) {
    return error(Code::kCorrupt, "{}: redirects to '{}', which is not a URL", base, location);
  }
  const std::string target = part(url.get(), CURLUPART_URL);
  KAPITSA_RETURN_IF_ERROR(origin(target).status());
  if (base.starts_with("https://") && !target.starts_with("https://")) {
    return error(Code::kInvalid, "{}: redirects to unencrypted {}; refused", base, target);
  }
  return target;
}

std::string escape_path(std::string_view path) {
  return escaped(path, true);
}

std::string escape_segment(std::string_view segment) {
  return escaped(segment, false);
}

}  // namespace kapitsa::hub
