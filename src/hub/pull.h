// Getting a model from the hub into the cache.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "hub/catalogue.h"
#include "hub/download.h"
#include "hub/environment.h"

namespace kapitsa::hub {

struct PullRequest {
  std::string repo;
  std::string revision = "main";
  std::string part;                  // what to pick (select_files)
  std::vector<CatalogueFile> files;  // or these very files, with what is known of them
};

struct PullProgress {
  Phase phase = Phase::kDownloading;
  std::string file;   // the file at hand
  uint64_t done = 0;  // bytes of all files, those already here included
  uint64_t total = 0;
};
using OnPullProgress = std::function<void(const PullProgress&)>;
using FreeSpace = std::function<Result<uint64_t>(const std::string& path)>;

struct PullOptions {
  DownloadOptions download;
  FreeSpace free_space;  // empty: the disk's own
};

struct Pulled {
  std::string commit;
  std::string folder;              // the snapshot's folder
  std::vector<std::string> files;  // names inside it
  uint64_t bytes = 0;              // of all files
  uint64_t downloaded = 0;         // that came over the network now
};

// Downloads what is missing of `request`, verifies it and links it into the snapshot. Errors: those
// of download(); kExhausted before the first byte where the disk is too small; kUnavailable if
// HF_HUB_OFFLINE.
Result<Pulled> pull(const PullRequest& request, const Environment& env, const PullOptions& options,
                    const OnPullProgress& progress);

}  // namespace kapitsa::hub
