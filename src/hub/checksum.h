// Checksums of files as the hub states them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/status.h"

namespace kapitsa::hub {

// Called with the bytes read so far; false stops with kCancelled.
using HashProgress = std::function<bool(uint64_t)>;

// The SHA-256 of a file, 64 hex digits.
Result<std::string> sha256_file(const std::string& path, const HashProgress& progress = nullptr);
// Git's object id of a file's content (SHA-1 over "blob <size>\0" and the bytes), 40 hex digits.
Result<std::string> git_blob_id(const std::string& path, const HashProgress& progress = nullptr);

}  // namespace kapitsa::hub
