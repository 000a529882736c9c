// A whole file mapped read-only: weights are used from the mapping, never copied whole.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"

namespace kapitsa {

class FileMap {
 public:
  // Maps `path`. Errors: kNotFound, kInvalid (a folder, an empty file), kUnavailable (the OS said no).
  static Result<std::shared_ptr<FileMap>> open(const std::string& path);

  FileMap(const FileMap&) = delete;
  FileMap& operator=(const FileMap&) = delete;
  ~FileMap();

  std::span<const std::byte> bytes() const { return bytes_; }
  const std::string& path() const { return path_; }

  // Tells the OS that `part` (a sub-span of bytes()) will be read soon, in order.
  void will_need(std::span<const std::byte> part) const;
  // Gives the pages wholly inside `part` back to the OS: they are read again if touched again. Used
  // after a tensor was packed into memory of its own, so that a load never holds the weights twice.
  void drop(std::span<const std::byte> part) const;

 private:
  FileMap(std::string path, std::span<const std::byte> bytes)
      : path_(std::move(path)), bytes_(bytes) {}

  std::string path_;
  std::span<const std::byte> bytes_;
};

// Reads a whole small file (configs, templates) into a string; refuses more than `limit` bytes.
Result<std::string> read_file(const std::string& path, size_t limit = size_t{64} << 20);

}  // namespace kapitsa
