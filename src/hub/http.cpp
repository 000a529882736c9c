#include "hub/http.h"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <thread>

#include "hub/ids.h"
#include "hub/url.h"

namespace kapitsa::hub {
namespace {

struct Body {
  std::string* text;
  size_t limit;
  bool overflow = false;
};

size_t on_body(char* data, size_t, size_t size, void* user) {
  auto* body = static_cast<Body*>(user);
  if (body->text->size() + size > body->limit) {
    body->overflow = true;
    return 0;
  }
  body->text->append(data, size);
  return size;
}

size_t on_header(char* data, size_t, size_t size, void* user) {
  auto* response = static_cast<Response*>(user);
  std::string_view line(data, size);
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) {
    response->headers.clear();  // of a "100 Continue" or a proxy's answer
  } else if (const size_t colon = line.find(':'); colon != line.npos) {
    std::string_view value = line.substr(colon + 1);
    while (!value.empty() && (value.front() == ' ' || value.front() == '\t'))
      value.remove_prefix(1);
    // A hostile server may send headers for ever.
    if (response->headers.size() < 200) response->headers[to_lower(line.substr(0, colon))] = value;
  }
  return size;
}

bool worth_retrying(CURLcode code) {
  switch (code) {
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return true;
    default:
      return false;
  }
}

// One exchange, no retries, no redirects.
Status exchange(const std::string& url, bool head, const Environment& env, size_t limit,
                Response* response, bool* again) {
  const Easy easy(curl_easy_init());
  *response = Response();
  KAPITSA_ASSIGN(const HeaderList headers, prepare(easy.get(), url, env, response));
  Body body{&response->body, limit};
  curl_easy_setopt(easy.get(), CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(easy.get(), CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(easy.get(), CURLOPT_TIMEOUT, static_cast<long>(env.timeout_s) * 6);
  if (head) curl_easy_setopt(easy.get(), CURLOPT_NOBODY, 1L);
  const CURLcode code = curl_easy_perform(easy.get());
  curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &response->status);
  if (body.overflow) {
    return error(Code::kCorrupt, "{}: the answer is larger than {} bytes, the most read here", url,
                 limit);
  }
  if (code != CURLE_OK) {
    *again = worth_retrying(code);
    return transfer_error(code, url);
  }
  *again = response->status == 429 || response->status >= 500;
  return Status();
}

}  // namespace

std::chrono::milliseconds RetryPolicy::wait(int failures, const std::string& retry_after) const {
  int seconds = 0;
  const auto parsed =
      std::from_chars(retry_after.data(), retry_after.data() + retry_after.size(), seconds);
  if (parsed.ec == std::errc() && seconds >= 0) {
    return std::chrono::seconds(std::min(seconds, 60));
  }
  const auto longest = std::chrono::milliseconds(16000);
  return std::min(longest, backoff * (1 << std::clamp(failures - 1, 0, 10)));
}

Result<HeaderList> prepare(CURL* easy, const std::string& url, const Environment& env,
                           Response* response) {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  const auto home = origin(env.endpoint);
  if (!home.ok()) return home.status().in("HF_ENDPOINT");
  KAPITSA_ASSIGN(const std::string target, origin(url));
  HeaderList headers(curl_slist_append(nullptr, "Accept-Encoding: identity"));
  if (!env.token.empty() && target == *home) {
    curl_slist_append(headers.get(), ("Authorization: Bearer " + env.token).c_str());
  }
  curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(easy, CURLOPT_USERAGENT, "kapitsa/0.1");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, static_cast<long>(env.timeout_s));
  // A connection that stands still is as good as cut.
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, std::max(30L, static_cast<long>(env.timeout_s)));
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, response);
  return headers;
}

Status transfer_error(CURLcode code, const std::string& url) {
  const std::string host = host_of(url);
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return error(
          Code::kUnavailable,
          "{}: no such host is known here; check the network, or set HF_ENDPOINT to a mirror",
          host);
    case CURLE_COULDNT_CONNECT:
      return error(
          Code::kUnavailable,
          "{}: cannot connect; check the network and the proxy settings (HTTPS_PROXY), or set "
          "HF_ENDPOINT to a mirror",
          host);
    case CURLE_OPERATION_TIMEDOUT:
      return error(
          Code::kUnavailable,
          "{}: no answer in time; check the network, or raise HF_HUB_ETAG_TIMEOUT (seconds)", host);
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CACERT_BADFILE:
      return error(Code::kUnavailable,
                   "{}: no trusted encrypted connection ({}); check the clock and the installed "
                   "certificates (ca-certificates)",
                   host, curl_easy_strerror(code));
    default:
      return error(Code::kUnavailable, "{}: the connection broke ({}); try again", host,
                   curl_easy_strerror(code));
  }
}

Status status_error(const Response& response, const std::string& what, const Environment& env) {
  const std::string reason = to_lower(response.header("x-error-code"));
  const bool known = !env.token.empty();
  if (reason == "gatedrepo" || response.status == 403) {
    return error(Code::kInvalid,
                 "{}: access is restricted; accept its terms at {}/{}, then {} a token from "
                 "{}/settings/tokens",
                 what, env.endpoint, what, known ? "check that HF_TOKEN holds" : "set HF_TOKEN to",
                 env.endpoint);
  }
  if (reason == "revisionnotfound") {
    return error(Code::kNotFound, "{}: has no such revision; see {}/{}", what, env.endpoint, what);
  }
  // The hub hides private repositories and missing ones behind the same 401.
  if (response.status == 401) {
    return error(
        Code::kNotFound,
        "{}: not found, or private; check the name at {}/{}, or {} a token that may read it", what,
        env.endpoint, what, known ? "check that HF_TOKEN holds" : "set HF_TOKEN to");
  }
  if (response.status == 404) {
    return error(Code::kNotFound, "{}: not found; check the name at {}/{}", what, env.endpoint,
                 what);
  }
  if (response.status == 429) {
    return error(Code::kUnavailable, "{}: the hub asks to slow down (429); try again later{}", what,
                 known ? "" : ", or set HF_TOKEN: known users may ask more often");
  }
  return error(Code::kUnavailable, "{}: {} answered {}; try again later", what, env.endpoint,
               response.status);
}

Result<Response> request(const std::string& first, bool head, const Environment& env,
                         const RetryPolicy& retry, size_t limit) {
  std::string url = first;
  Headers kept;
  int failures = 0;
  for (int redirects = 0;;) {
    Response response;
    bool again = false;
    const Status status = exchange(url, head, env, limit, &response, &again);
    if (again && ++failures < retry.attempts && !retry.cancelled()) {
      std::this_thread::sleep_for(retry.wait(failures, response.header("retry-after")));
      continue;
    }
    KAPITSA_RETURN_IF_ERROR(status);
    const std::string location = response.header("location");
    const bool moved = response.status >= 300 && response.status < 400 && !location.empty();
    if (moved) {
      KAPITSA_ASSIGN(const std::string next, redirect_target(url, location));
      KAPITSA_ASSIGN(const std::string there, origin(next));
      KAPITSA_ASSIGN(const std::string here, origin(url));
      if (!head || there == here) {
        if (++redirects > 8) return error(Code::kUnavailable, "{}: redirects without end", first);
        // What the hub says about a file goes before what the place says that stores it.
        kept.merge(response.headers);
        url = next;
        continue;
      }
    }
    for (const auto& [name, value] : kept) {
      if (name.starts_with("x-")) response.headers[name] = value;
    }
    return response;
  }
}

}  // namespace kapitsa::hub
