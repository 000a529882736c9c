#include "weights/output_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "base/file_map.h"

namespace kapitsa::weights {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kMagic = "kapitsa journal 1 ";
constexpr uint64_t kSyncBytes = uint64_t{256} << 20;  // what an interrupted run may have to write again

Status failed(const std::string& path) {
  const Code code = errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? Code::kExhausted : Code::kUnavailable;
  return error(code, "{}: {}", path, std::strerror(errno));
}

Status write_at(int file, const std::string& path, uint64_t at, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(file, bytes.data(), std::min<size_t>(bytes.size(), 1 << 30), static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed(path);
    bytes = bytes.subspan(static_cast<size_t>(n));
    at += static_cast<uint64_t>(n);
  }
  return {};
}

// A line of the journal ends it only if it is whole: a crash may cut the last one.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) lines.push_back(text.substr(0, end));
  return lines;
}

std::string first_line(uint64_t key) { return fmt::format("{}{:016x}", kMagic, key); }

}  // namespace

Result<std::unique_ptr<OutputFile>> OutputFile::create(const std::string& target, uint64_t size, const Resume& resume) {
  std::error_code ignored;
  const auto status = fs::status(target, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    return error(Code::kInvalid, "{}: is not a regular file, and a result can only replace one", target);
  }
  // A link stays one: what it leads to is replaced.
  std::error_code unresolved;
  const fs::path real = fs::weakly_canonical(target, unresolved);
  std::unique_ptr<OutputFile> out(new OutputFile());
  out->target_ = unresolved ? target : real.string();
  const uint64_t key = XXH64(resume.data(), resume.size(), size);
  int flags = O_RDWR | O_CREAT | O_CLOEXEC;
  if (resume.empty()) {
    static std::atomic<unsigned> serial{0};
    out->path_ = fmt::format("{}.{}-{}.tmp", out->target_, getpid(), serial++);
    flags |= O_TRUNC;
  } else {
    out->path_ = out->target_ + ".partial";
    out->journal_path_ = out->target_ + ".partial.journal";
  }
  out->file_ = ::open(out->path_.c_str(), flags, 0666);
  if (out->file_ < 0) return failed(out->path_);
  if (!resume.empty()) {
    if (::flock(out->file_, LOCK_EX | LOCK_NB) != 0) {
      return error(Code::kUnavailable, "{}: another process is writing it", out->path_);
    }
    if (!out->read_journal(key, size)) {
      out->earlier_.clear();
      if (ftruncate(out->file_, 0) != 0) return failed(out->path_);
      KAPITSA_RETURN_IF_ERROR(out->begin_journal(key));
    }
  }
  if (ftruncate(out->file_, static_cast<off_t>(size)) != 0) return failed(out->path_);
  return out;
}

bool OutputFile::read_journal(uint64_t key, uint64_t size) {
  struct stat found {};
  if (fstat(file_, &found) != 0 || static_cast<uint64_t>(found.st_size) != size || size == 0) return false;
  const auto text = read_file(journal_path_);
  if (!text.ok()) return false;
  const auto lines = lines_of(*text);
  if (lines.empty() || lines[0] != first_line(key)) return false;
  for (size_t i = 1; i < lines.size(); ++i) {
    size_t index = 0;
    const auto [end, fault] = std::from_chars(lines[i].data(), lines[i].data() + lines[i].size(), index);
    if (fault != std::errc() || end != lines[i].data() + lines[i].size()) return false;
    earlier_.insert(index);
  }
  journal_ = ::open(journal_path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  // What was cut off the last line goes, or the next would be glued to it.
  const size_t whole = text->rfind('\n') + 1;
  return journal_ >= 0 && ftruncate(journal_, static_cast<off_t>(whole)) == 0;
}

Status OutputFile::begin_journal(uint64_t key) {
  if (journal_ >= 0) ::close(journal_);
  journal_ = ::open(journal_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  if (journal_ < 0) return failed(journal_path_);
  const std::string line = first_line(key) + "\n";
  if (::write(journal_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) return failed(journal_path_);
  return {};
}

OutputFile::~OutputFile() {
  if (file_ < 0) return;
  if (!finished_ && journal_ >= 0) (void)sync();
  ::close(file_);
  if (journal_ >= 0) ::close(journal_);
  else if (!finished_ && journal_path_.empty()) ::unlink(path_.c_str());
}

Status OutputFile::write(uint64_t at, std::span<const std::byte> bytes) { return write_at(file_, path_, at, bytes); }

Status OutputFile::whole(size_t index, uint64_t bytes) {
  if (journal_ < 0) return {};
  const std::lock_guard lock(mutex_);
  unsynced_.push_back(index);
  unsynced_bytes_ += bytes;
  return unsynced_bytes_ < kSyncBytes ? Status() : sync();
}

Status OutputFile::sync() {
  // The bytes before the line that vouches for them.
  if (fsync(file_) != 0 && errno != EINVAL) return failed(path_);
  std::string lines;
  for (const size_t index : unsynced_) lines += fmt::format("{}\n", index);
  if (::write(journal_, lines.data(), lines.size()) != static_cast<ssize_t>(lines.size())) return failed(journal_path_);
  unsynced_.clear();
  unsynced_bytes_ = 0;
  return {};
}

Status OutputFile::finish() {
  if (fsync(file_) != 0 && errno != EINVAL) return failed(path_);
  if (::rename(path_.c_str(), target_.c_str()) != 0) return failed(target_);
  finished_ = true;
  if (!journal_path_.empty()) ::unlink(journal_path_.c_str());
  return {};
}

}  // namespace kapitsa::weights
