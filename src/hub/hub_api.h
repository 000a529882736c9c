// The two questions that a download asks of the hub: which files a repository has, and what one is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "hub/http.h"

namespace kapitsa::hub {

struct RemoteFile {
  std::string name;
  std::optional<uint64_t> size;  // bytes
  std::string sha256;            // of large files; empty where the hub does not say
};

struct Listing {
  std::string commit;  // 40 hex digits
  std::vector<RemoteFile> files;
};

struct FileMetadata {
  std::string commit;
  std::string etag;  // the blob's name: SHA-256 of large files, git's object id of small ones
  uint64_t size = 0;
};

// GET api/models/<repo>/revision/<revision>. Errors: kNotFound, kInvalid (restricted),
// kUnavailable.
Result<Listing> list_files(const std::string& repo, const std::string& revision,
                           const Environment& env, const RetryPolicy& retry);
// The answer's text as a Listing; refuses file names that leave their folder.
Result<Listing> parse_listing(std::string_view json, const std::string& repo);

std::string file_url(const std::string& repo, const std::string& revision, const std::string& file,
                     const Environment& env);

// HEAD <repo>/resolve/<revision>/<file>.
Result<FileMetadata> file_metadata(const std::string& repo, const std::string& revision,
                                   const RemoteFile& file, const Environment& env,
                                   const RetryPolicy& retry);

}  // namespace kapitsa::hub
