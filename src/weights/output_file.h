// A file that is being written piece by piece, of a size that is known before: it stands beside its target until it is whole,
// and takes the target's name then.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace kapitsa::weights {

class OutputFile {
 public:
  // Empty: an unfinished file goes. Else it stays, as TARGET.partial, with a journal of its whole pieces beside it, and a
  // later run whose text is the same goes on with it. The text names everything that the file's bytes depend on.
  using Resume = std::string;

  // Errors: kInvalid (the target is a folder, a device, ...), kExhausted (the disk is full), kUnavailable.
  static Result<std::unique_ptr<OutputFile>> create(const std::string& target, uint64_t size, const Resume& resume = {});
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Any thread, any order.
  Status write(uint64_t at, std::span<const std::byte> bytes);
  // Piece `index` needs no more writing, and a later run need not begin it again.
  Status whole(size_t index, uint64_t bytes);
  // Whether an earlier run wrote it.
  bool was_whole(size_t index) const { return earlier_.contains(index); }
  // Gives the file its name.
  Status finish();

 private:
  OutputFile() = default;
  Status begin_journal(uint64_t key);
  bool read_journal(uint64_t key, uint64_t size);
  Status sync();

  std::string target_, path_, journal_path_;
  int file_ = -1, journal_ = -1;
  bool finished_ = false;
  std::set<size_t> earlier_;
  std::mutex mutex_;               // of what follows
  std::vector<size_t> unsynced_;   // whole, but perhaps not on the disk yet
  uint64_t unsynced_bytes_ = 0;
};

}  // namespace kapitsa::weights
