#include "hub/ranges.h"

#include <algorithm>
#include <charconv>

namespace kapitsa::hub {

void RangeSet::add(ByteRange range) {
  if (range.begin >= range.end) return;
  auto next = ranges_.upper_bound(range.begin);
  if (next != ranges_.begin()) {
    const auto before = std::prev(next);
    if (before->second >= range.begin) {
      range.begin = before->first;
      range.end = std::max(range.end, before->second);
      ranges_.erase(before);
    }
  }
  while (next != ranges_.end() && next->first <= range.end) {
    range.end = std::max(range.end, next->second);
    next = ranges_.erase(next);
  }
  ranges_[range.begin] = range.end;
}

uint64_t RangeSet::bytes() const {
  uint64_t sum = 0;
  for (const auto& [begin, end] : ranges_) sum += end - begin;
  return sum;
}

std::vector<ByteRange> RangeSet::missing(uint64_t size, uint64_t piece) const {
  std::vector<ByteRange> gaps;
  uint64_t at = 0;
  const auto gap_until = [&](uint64_t end) {
    while (at < end) {
      const uint64_t stop = end - at > piece ? at + piece : end;
      gaps.push_back({at, stop});
      at = stop;
    }
  };
  for (const auto& [begin, end] : ranges_) {
    gap_until(std::min(begin, size));
    at = std::max(at, end);
  }
  gap_until(size);
  return gaps;
}

std::string journal_head(uint64_t size, const std::string& etag) {
  return fmt::format("kapitsa 1 {} {}\n", size, etag);
}

RangeSet parse_journal(std::string_view text, uint64_t size, const std::string& etag) {
  RangeSet set;
  const std::string head = journal_head(size, etag);
  if (!text.starts_with(head)) return set;
  text.remove_prefix(head.size());
  for (size_t line_end; (line_end = text.find('\n')) != text.npos;
       text.remove_prefix(line_end + 1)) {
    const std::string_view line = text.substr(0, line_end);
    ByteRange range;
    const char* const stop = line.data() + line.size();
    const auto begin = std::from_chars(line.data(), stop, range.begin);
    if (begin.ec != std::errc() || begin.ptr == stop || *begin.ptr != ' ') continue;
    const auto end = std::from_chars(begin.ptr + 1, stop, range.end);
    if (end.ec != std::errc() || end.ptr != stop || range.end > size) continue;
    set.add(range);
  }
  return set;
}

}  // namespace kapitsa::hub
