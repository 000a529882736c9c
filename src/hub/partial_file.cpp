#include "hub/partial_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/file_map.h"
#include "hub/human_bytes.h"

namespace kapitsa::hub {
namespace {

Status write_error(const std::string& path, uint64_t needed) {
  if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG) {
    return error(Code::kExhausted,
                 "{}: {} after {} ({}); free room there or set HF_HOME to another disk, then run "
                 "this again: "
                 "what arrived is kept",
                 path, errno == EFBIG ? "file size limit reached" : "the disk is full",
                 human_bytes(needed), std::strerror(errno));
  }
  return error(Code::kUnavailable, "{}: {}", path, std::strerror(errno));
}

}  // namespace

RangeSet PartialFile::left_over(const std::string& target, uint64_t size, const std::string& etag) {
  struct stat info {};
  if (stat(data_path(target).c_str(), &info) != 0) return {};
  auto text = read_file(journal_path(target));
  if (!text.ok()) return {};
  // Only what is inside the file can have been written.
  const RangeSet journal = parse_journal(*text, size, etag);
  const auto length = static_cast<uint64_t>(info.st_size);
  if (length >= size) return journal;
  RangeSet inside;
  uint64_t at = 0;
  for (const ByteRange gap : journal.missing(size, UINT64_MAX)) {
    if (gap.begin > at && gap.begin <= length) inside.add({at, gap.begin});
    at = gap.end;
  }
  return inside;
}

Result<PartialFile> PartialFile::open(const std::string& target, uint64_t size,
                                      const std::string& etag) {
  PartialFile file;
  file.target_ = target;
  file.etag_ = etag;
  file.size_ = size;
  file.done_ = left_over(target, size, etag);
  const bool fresh = file.done_.bytes() == 0;
  const int flags = O_RDWR | O_CREAT | O_CLOEXEC | (fresh ? O_TRUNC : 0);
  file.data_ = ::open(data_path(target).c_str(), flags, 0644);
  if (file.data_ < 0) return write_error(data_path(target), 0);
  file.journal_ = ::open(journal_path(target).c_str(), flags | O_APPEND, 0644);
  if (file.journal_ < 0) return write_error(journal_path(target), 0);
  if (fresh) KAPITSA_RETURN_IF_ERROR(file.reset());
  return file;
}

PartialFile::PartialFile(PartialFile&& other) noexcept
    : target_(std::move(other.target_)),
      etag_(std::move(other.etag_)),
      size_(other.size_),
      data_(std::exchange(other.data_, -1)),
      journal_(std::exchange(other.journal_, -1)),
      done_(std::move(other.done_)) {}

PartialFile::~PartialFile() {
  if (data_ >= 0) close(data_);
  if (journal_ >= 0) close(journal_);
}

Status PartialFile::write(uint64_t at, std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = pwrite(data_, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      if (put == 0) errno = ENOSPC;
      return write_error(data_path(target_), done_.bytes());
    }
    at += static_cast<uint64_t>(put);
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
  return Status();
}

Status PartialFile::record(ByteRange range) {
  if (range.begin >= range.end) return Status();
  done_.add(range);
  const std::string line = fmt::format("{} {}\n", range.begin, range.end);
  // One write a line, so that a kill leaves at most one torn line at the end. Where even that does
  // not fit on the disk, the bytes are merely fetched again.
  if (::write(journal_, line.data(), line.size()) < 0 && errno != ENOSPC && errno != EDQUOT) {
    return write_error(journal_path(target_), done_.bytes());
  }
  return Status();
}

Status PartialFile::reset() {
  done_ = RangeSet();
  const std::string head = journal_head(size_, etag_);
  if (ftruncate(data_, 0) != 0 || ftruncate(journal_, 0) != 0 ||
      ::write(journal_, head.data(), head.size()) != static_cast<ssize_t>(head.size())) {
    return write_error(journal_path(target_), 0);
  }
  return Status();
}

Status PartialFile::commit() {
  if (ftruncate(data_, static_cast<off_t>(size_)) != 0 || fsync(data_) != 0 ||
      rename(data_path(target_).c_str(), target_.c_str()) != 0) {
    return write_error(target_, size_);
  }
  unlink(journal_path(target_).c_str());
  return Status();
}

void PartialFile::discard() {
  unlink(data_path(target_).c_str());
  unlink(journal_path(target_).c_str());
}

}  // namespace kapitsa::hub
