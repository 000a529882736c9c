#include "text/dialect/markers.h"

#include <algorithm>

namespace kapitsa::text {

void Markers::add(int id, const Spellings& spellings) {
  for (const std::string_view one : spellings) markers_.push_back({one, id});
}

Markers::Found Markers::at(std::string_view text, size_t at) const {
  const std::string_view rest = text.substr(at);
  bool part = false;
  for (const Marker& marker : markers_) {
    if (rest.size() < marker.text.size()) {
      part = part || marker.text.substr(0, rest.size()) == rest;
    } else if (rest.substr(0, marker.text.size()) == marker.text) {
      return {State::kWhole, at, marker.text.size(), marker.id};
    }
  }
  return part && !rest.empty() ? Found{State::kPart, at, 0, 0} : Found{};
}

Markers::Found Markers::find(std::string_view text, size_t from) const {
  for (size_t i = from; i < text.size(); ++i) {
    const bool begins = std::any_of(markers_.begin(), markers_.end(),
                                    [&](const Marker& one) { return one.text[0] == text[i]; });
    if (!begins) continue;
    const Found found = at(text, i);
    if (found.state != State::kNone) return found;
  }
  return {};
}

std::string_view trim(std::string_view text, std::string_view set) {
  const size_t start = text.find_first_not_of(set);
  return start == text.npos ? std::string_view()
                            : text.substr(start, text.find_last_not_of(set) - start + 1);
}

size_t skip_space(std::string_view text, size_t at) {
  return std::min(text.find_first_not_of(kWhiteSpace, at), text.size());
}

}  // namespace kapitsa::text
