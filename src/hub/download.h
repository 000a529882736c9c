// One large file from the hub: ranges in parallel, resumed where a killed run stopped, verified
// before it gets its name.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/status.h"
#include "hub/environment.h"
#include "hub/http.h"

namespace kapitsa::hub {

struct DownloadOptions {
  RetryPolicy retry;
  int attempts = 8;  // in a row without a byte between them: about 45 s of outage
  int connections = 4;
  uint64_t piece = uint64_t{32} << 20;         // bytes a request asks for
  uint64_t journal_every = uint64_t{4} << 20;  // bytes a kill may cost, a connection
};

struct DownloadJob {
  std::string name;    // for messages: "org/name/file"
  std::string url;     // the hub's resolve URL
  std::string target;  // where the file goes once verified
  std::string etag;    // 64 hex digits: its SHA-256; 40: git's object id; else not verifiable by it
  std::string sha256;  // what else is known of its SHA-256 (the catalogue), or empty
  std::string repo;    // for messages about access
  uint64_t size = 0;   // bytes
};

enum class Phase { kDownloading, kVerifying, kWaiting };

// Bytes of this file done so far in this phase.
using DownloadProgress = std::function<void(Phase, uint64_t bytes)>;

// Bytes of `job` that an earlier, unfinished run left.
uint64_t resumable_bytes(const DownloadJob& job);

// Downloads `job` to `<target>.kapitsa.incomplete` and moves it to `target`. The caller holds the
// lock on it. Errors: kCorrupt (checksum or size), kExhausted (disk), kUnavailable (network; what
// arrived is kept), kNotFound, kInvalid (restricted), kCancelled.
Status download(const DownloadJob& job, const Environment& env, const DownloadOptions& options,
                const DownloadProgress& progress);

}  // namespace kapitsa::hub
