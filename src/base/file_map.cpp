#include "base/file_map.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/mapped_files.h"

namespace kapitsa {
namespace {

Status errno_status(const std::string& path) {
  const Code code = errno == ENOENT || errno == ENOTDIR ? Code::kNotFound : Code::kUnavailable;
  return error(code, "{}: {}", path, std::strerror(errno));
}

// The whole pages inside [part.begin, part.end).
std::span<std::byte> inner_pages(std::span<const std::byte> part) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<uintptr_t>(part.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<uintptr_t>(part.data() + part.size()) / page * page;
  if (end <= begin) return {};
  return {reinterpret_cast<std::byte*>(begin), end - begin};
}

}  // namespace

Result<std::shared_ptr<FileMap>> FileMap::open(const std::string& path) {
  // Without waiting: a pipe is refused below.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return errno_status(path);
  struct stat info{};
  if (fstat(fd, &info) != 0) {
    Status status = errno_status(path);
    ::close(fd);
    return status;
  }
  if (!S_ISREG(info.st_mode) || info.st_size == 0) {
    ::close(fd);
    return error(Code::kInvalid, "{}: {}", path,
                 S_ISREG(info.st_mode) ? "the file is empty" : "not a regular file");
  }
  const auto size = static_cast<size_t>(info.st_size);
  void* address = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  Status status = address == MAP_FAILED ? errno_status(path) : Status();
  ::close(fd);
  if (!status.ok()) return status;
  const std::shared_ptr<FileMap> map(new FileMap(path, {static_cast<std::byte*>(address), size}));
  watch_mapped_file(map->bytes_, map->path_.c_str());
  return map;
}

FileMap::~FileMap() {
  forget_mapped_file(bytes_);
  munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void FileMap::will_need(std::span<const std::byte> part) const {
  if (auto pages = inner_pages(part); !pages.empty()) {
    madvise(pages.data(), pages.size(), MADV_WILLNEED);
  }
}

void FileMap::drop(std::span<const std::byte> part) const {
  if (auto pages = inner_pages(part); !pages.empty()) {
    madvise(pages.data(), pages.size(), MADV_DONTNEED);
  }
}

Result<std::string> read_file(const std::string& path, size_t limit) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return errno_status(path);
  if (S_ISDIR(info.st_mode)) return error(Code::kInvalid, "{}: is a folder, not a file", path);
  std::ifstream in(path, std::ios::binary);
  if (!in) return errno_status(path);
  std::string text;
  std::string chunk(64 << 10, '\0');
  while (in.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || in.gcount() > 0) {
    text.append(chunk, 0, static_cast<size_t>(in.gcount()));
    if (text.size() > limit) {
      return error(Code::kInvalid, "{}: larger than {} bytes, the most read here", path, limit);
    }
  }
  return text;
}

}  // namespace kapitsa
