#include "engine/stop_matcher.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace kapitsa::engine {

StopMatcher::StopMatcher(std::vector<std::string> stops) : stops_(std::move(stops)) {
  std::erase_if(stops_, [](const std::string& s) { return s.empty(); });
}

std::string StopMatcher::push(const std::string& text) {
  if (stops_.empty()) return text;
  if (!found_.empty()) return "";
  held_ += text;
  // The earliest occurrence wins; among those that begin together, the longest.
  size_t at = std::string::npos;
  for (const std::string& stop : stops_) {
    const size_t here = held_.find(stop);
    if (here == std::string::npos) continue;
    if (at == std::string::npos || here < at || (here == at && stop.size() > found_.size())) {
      at = here;
      found_ = stop;
    }
  }
  if (at != std::string::npos) {
    std::string out = held_.substr(0, at);
    held_.clear();
    return out;
  }
  size_t keep = 0;  // the longest end of the text that begins a stop string
  for (const std::string& stop : stops_) {
    for (size_t n = std::min(stop.size() - 1, held_.size()); n > keep; --n) {
      if (std::string_view(held_).substr(held_.size() - n) == std::string_view(stop).substr(0, n)) keep = n;
    }
  }
  std::string out = held_.substr(0, held_.size() - keep);
  held_.erase(0, held_.size() - keep);
  return out;
}

std::string StopMatcher::finish() { return std::exchange(held_, ""); }

}  // namespace kapitsa::engine
