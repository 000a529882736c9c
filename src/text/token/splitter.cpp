#include "text/token/splitter.h"

#include <algorithm>

namespace kapitsa::text {
namespace {

// Joins each match that does not follow a match to the part before it, in place; `parts` in either
// direction.
template <class Join>
void merge_matches(std::vector<Part>& parts, Join join) {
  size_t kept = 0;
  bool after_match = false;
  for (const Part part : std::vector<Part>(parts)) {
    if (part.matched && !after_match && kept > 0) {
      join(parts[kept - 1], part);
    } else {
      parts[kept++] = part;
    }
    after_match = part.matched;
  }
  parts.resize(kept);
}

}  // namespace

void apply(Behavior behavior, bool invert, std::vector<Part>& parts) {
  if (invert) {
    for (Part& part : parts) part.matched = !part.matched;
  }
  switch (behavior) {
    case Behavior::kIsolated:
      break;
    case Behavior::kRemoved:
      std::erase_if(parts, [](const Part& part) { return part.matched; });
      break;
    case Behavior::kMergedWithPrevious:
      merge_matches(parts, [](Part& into, const Part& part) { into.end = part.end; });
      break;
    case Behavior::kMergedWithNext:
      std::reverse(parts.begin(), parts.end());
      merge_matches(parts, [](Part& into, const Part& part) { into.begin = part.begin; });
      std::reverse(parts.begin(), parts.end());
      break;
    case Behavior::kContiguous: {
      size_t kept = 0;
      for (size_t i = 0; i < parts.size(); ++i) {
        if (kept > 0 && parts[kept - 1].matched == parts[i].matched) {
          parts[kept - 1].end = parts[i].end;
        } else {
          parts[kept++] = parts[i];
        }
      }
      parts.resize(kept);
    }
  }
  std::erase_if(parts, [](const Part& part) { return part.begin == part.end; });
}

}  // namespace kapitsa::text
