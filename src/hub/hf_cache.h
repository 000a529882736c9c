// The Hugging Face cache on disk: <cache>/models--org--name/{blobs,refs,snapshots}. What other
// tools downloaded is found here, and what is downloaded here is found by them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace kapitsa::hub {

class HfCache {
 public:
  explicit HfCache(std::string root) : root_(std::move(root)) {}

  const std::string& root() const { return root_; }
  std::string repo_folder(const std::string& repo) const;
  std::string blob(const std::string& repo, const std::string& etag) const;
  std::string lock(const std::string& repo, const std::string& etag) const;
  std::string snapshot(const std::string& repo, const std::string& commit) const;

  // The commit that `revision` (a branch, a tag or a commit) stands for here, if any.
  std::optional<std::string> commit_of(const std::string& repo, const std::string& revision) const;
  // Names of the files of a snapshot whose bytes are here, sorted.
  std::vector<std::string> files_of(const std::string& repo, const std::string& commit) const;
  std::vector<std::string> snapshots(const std::string& repo) const;
  // Every repository here as "org/name".
  std::vector<std::string> repos() const;

  // Makes snapshot/<commit>/<file> point to the blob `etag`; a no-op where it is there.
  Status link(const std::string& repo, const std::string& commit, const std::string& file,
              const std::string& etag) const;
  Status write_ref(const std::string& repo, const std::string& revision,
                   const std::string& commit) const;

  struct Removed {
    std::vector<std::string> files;
    uint64_t bytes = 0;  // freed on the disk
  };
  // Removes `files` of `repo` from every snapshot (all of the repository where `files` is empty),
  // and the blobs that no other snapshot uses. Nothing outside the repository's folder is touched.
  Result<Removed> remove(const std::string& repo, const std::vector<std::string>& files) const;

 private:
  std::string root_;
};

// The free bytes that a user may fill on the disk of `path` or its nearest existing parent.
Result<uint64_t> free_space(const std::string& path);

}  // namespace kapitsa::hub
