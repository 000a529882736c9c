// A file on its way in: the sparse ".kapitsa.incomplete" and its journal. The names differ from the
// Hugging Face tools' own ".incomplete", which they resume at its length: ours may have holes.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"
#include "hub/ranges.h"

namespace kapitsa::hub {

class PartialFile {
 public:
  static std::string data_path(const std::string& target) { return target + ".kapitsa.incomplete"; }
  static std::string journal_path(const std::string& target) { return target + ".kapitsa.journal"; }

  // What an earlier run left of this very file, without opening anything for writing.
  static RangeSet left_over(const std::string& target, uint64_t size, const std::string& etag);

  // Opens or creates both files; `done()` holds what an earlier run left. Errors: kUnavailable,
  // kExhausted.
  static Result<PartialFile> open(const std::string& target, uint64_t size,
                                  const std::string& etag);

  PartialFile(PartialFile&& other) noexcept;
  PartialFile& operator=(PartialFile&&) = delete;
  ~PartialFile();

  const RangeSet& done() const { return done_; }
  // Error kExhausted: the disk or the process's limit is full, with numbers.
  Status write(uint64_t at, std::span<const char> bytes);
  // Notes that `range` was written.
  Status record(ByteRange range);
  // Forgets everything that arrived.
  Status reset();
  // Moves the data to the target and deletes the journal.
  Status commit();
  // Deletes both.
  void discard();

 private:
  PartialFile() = default;

  std::string target_;
  std::string etag_;
  uint64_t size_ = 0;
  int data_ = -1;
  int journal_ = -1;
  RangeSet done_;
};

}  // namespace kapitsa::hub
