// Small requests to the hub (lists, metadata) over libcurl, and what large ones share with them.
#pragma once

#include <curl/curl.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/status.h"
#include "hub/environment.h"

namespace kapitsa::hub {

// Header names are in lower case; of a repeated header the last value is kept.
using Headers = std::map<std::string, std::string>;

struct Response {
  long status = 0;
  Headers headers;
  std::string body;

  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

struct RetryPolicy {
  int attempts = 6;
  std::chrono::milliseconds backoff{500};  // doubles each time, up to 16 s
  const std::atomic<bool>* cancel = nullptr;

  // How long to wait after failure number `failures` (from 1); a server's Retry-After goes before.
  std::chrono::milliseconds wait(int failures, const std::string& retry_after = "") const;
  bool cancelled() const { return cancel != nullptr && cancel->load(); }
};

struct FreeEasy {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
using Easy = std::unique_ptr<CURL, FreeEasy>;
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, FreeList>;

// Sets up `easy` for one request to `url`. Redirects are not followed: each is looked at by the
// caller, so that the token goes to the endpoint's own origin and nowhere else. `response` collects
// status and headers. The returned list must outlive the transfer.
Result<HeaderList> prepare(CURL* easy, const std::string& url, const Environment& env,
                           Response* response);

// One clear sentence for a transfer that curl could not carry out.
Status transfer_error(CURLcode code, const std::string& url);
// One clear sentence for an answer that is not a success, about `what` ("org/name").
Status status_error(const Response& response, const std::string& what, const Environment& env);

// GET or HEAD with retries on cuts, 429 and 5xx. Redirects within the origin are followed; one that
// leads elsewhere is returned as it is to HEAD, and followed without the token by GET. Headers of
// the answers on the way are kept where later ones do not repeat them. The body may have `limit`
// bytes.
Result<Response> request(const std::string& url, bool head, const Environment& env,
                         const RetryPolicy& retry, size_t limit = size_t{64} << 20);

}  // namespace kapitsa::hub
