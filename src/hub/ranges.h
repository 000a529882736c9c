// Which bytes of a file have arrived, kept in a small journal beside it so that a killed download
// goes on where it was.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace kapitsa::hub {

struct ByteRange {
  uint64_t begin = 0;
  uint64_t end = 0;  // one past the last byte
  bool operator==(const ByteRange&) const = default;
};

// A set of bytes as disjoint ranges.
class RangeSet {
 public:
  void add(ByteRange range);
  uint64_t bytes() const;
  // What is missing of [0, size), in pieces of at most `piece` bytes.
  std::vector<ByteRange> missing(uint64_t size, uint64_t piece) const;

 private:
  std::map<uint64_t, uint64_t> ranges_;  // begin -> end
};

// The journal's first line, which ties it to one version of one file.
std::string journal_head(uint64_t size, const std::string& etag);
// Reads a journal's text; ranges outside the file and a torn last line are left out. Empty if it is
// about another file.
RangeSet parse_journal(std::string_view text, uint64_t size, const std::string& etag);

}  // namespace kapitsa::hub
