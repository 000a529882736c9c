#include "hub/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

namespace kapitsa::hub {

Result<FileLock> FileLock::acquire(const std::string& path, const std::function<bool()>& waiting) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return error(Code::kUnavailable, "{}: {}", path, std::strerror(errno));
  FileLock lock(fd);
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    // A filesystem without locks (some network mounts): go on without one rather than not at all.
    if (errno == ENOTSUP || errno == ENOLCK || errno == ENOSYS) break;
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return error(Code::kUnavailable, "{}: cannot be locked: {}", path, std::strerror(errno));
    }
    if (!waiting()) return error(Code::kCancelled, "stopped while another download was under way");
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  return lock;
}

FileLock::~FileLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace kapitsa::hub
