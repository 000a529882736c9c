// An exclusive lock between processes on a file (flock, as the Hugging Face tools take it).
#pragma once

#include <functional>
#include <string>

#include "base/status.h"

namespace kapitsa::hub {

class FileLock {
 public:
  // Waits for the lock on `path`, creating it and its folder. `waiting` is called about five times
  // a second while another process holds it; false gives up with kCancelled.
  static Result<FileLock> acquire(const std::string& path, const std::function<bool()>& waiting);

  FileLock(FileLock&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace kapitsa::hub
