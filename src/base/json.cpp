#include "base/json.h"

namespace kapitsa {
namespace {

constexpr int kMaxDepth = 256;

// True if brackets outside strings nest deeper than kMaxDepth.
bool too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view what) {
  if (too_deep(text)) {
    return error(Code::kCorrupt, "{}: nested deeper than {} levels", what, kMaxDepth);
  }
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::parse_error& e) {
    std::string reason = e.what();
    // The library's text starts with its own bracketed id; what follows is for people.
    if (const size_t cut = reason.find("] "); cut != std::string::npos) reason.erase(0, cut + 2);
    return error(Code::kCorrupt, "{}: not valid JSON at byte {}: {}", what, e.byte, reason);
  } catch (const std::exception& e) {
    return error(Code::kCorrupt, "{}: not valid JSON: {}", what, e.what());
  }
}

}  // namespace kapitsa
