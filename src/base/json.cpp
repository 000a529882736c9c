#include "base/json.h"

#include <unordered_map>
#include <vector>

namespace kapitsa {
namespace {

constexpr size_t kMaxDepth = 256;

// Builds the document from the parser's events. The library's own builder looks every key up among the object's earlier
// ones, one by one: a tokenizer's vocabulary of 150,000 keys takes it a minute, and a request could hang a thread. Here
// large objects have an index while they are read. Of a key that comes twice the last value counts, as in Python.
class Builder {
 public:
  explicit Builder(std::string_view what) : what_(what) {}

  bool null() { return value(nullptr); }
  bool boolean(bool b) { return value(b); }
  bool number_integer(Json::number_integer_t n) { return value(n); }
  bool number_unsigned(Json::number_unsigned_t n) { return value(n); }
  bool number_float(Json::number_float_t n, const std::string&) { return value(n); }
  bool string(std::string& s) { return value(std::move(s)); }
  bool binary(Json::binary_t&) { return false; }
  bool start_object(size_t) { return open(Json::object()); }
  bool start_array(size_t) { return open(Json::array()); }
  bool key(std::string& k) {
    levels_.back().key = std::move(k);
    return true;
  }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& e) {
    std::string reason = e.what();
    // The library's text starts with its own bracketed id; what follows is for people.
    if (const size_t cut = reason.find("] "); cut != std::string::npos) reason.erase(0, cut + 2);
    status_ = error(Code::kCorrupt, "{}: not valid JSON at byte {}: {}", what_, position, reason);
    return false;
  }

  Result<Json> result() && {
    if (!status_.ok()) return std::move(status_);
    return std::move(root_);
  }

 private:
  struct Level {
    Json json;
    std::string key;  // of the member that is being read
    std::unordered_map<std::string, size_t> index;
  };
  // Up to here a walk over the members is as fast as an index.
  static constexpr size_t kSmall = 16;

  bool value(Json v) {
    if (levels_.empty()) {
      root_ = std::move(v);
      return true;
    }
    Level& level = levels_.back();
    if (level.json.is_array()) {
      level.json.push_back(std::move(v));
      return true;
    }
    auto& members = level.json.get_ref<Json::object_t&>();
    if (members.size() < kSmall) {
      members[level.key] = std::move(v);
      return true;
    }
    if (level.index.empty()) {
      for (size_t i = 0; i < members.size(); ++i) level.index[std::next(members.begin(), static_cast<std::ptrdiff_t>(i))->first] = i;
    }
    const auto [at, added] = level.index.try_emplace(level.key, members.size());
    if (added) static_cast<Json::object_t::Container&>(members).emplace_back(std::move(level.key), std::move(v));
    else std::next(members.begin(), static_cast<std::ptrdiff_t>(at->second))->second = std::move(v);
    return true;
  }

  bool open(Json empty) {
    if (levels_.size() >= kMaxDepth) {
      status_ = error(Code::kCorrupt, "{}: nested deeper than {} levels", what_, kMaxDepth);
      return false;
    }
    levels_.push_back({std::move(empty), {}, {}});
    return true;
  }
  bool close() {
    Json done = std::move(levels_.back().json);
    levels_.pop_back();
    return value(std::move(done));
  }

  std::string what_;
  Json root_;
  std::vector<Level> levels_;
  Status status_;
};

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view what) {
  Builder builder(what);
  try {
    Json::sax_parse(text, &builder);
  } catch (const std::exception& e) {
    return error(Code::kCorrupt, "{}: not valid JSON: {}", what, e.what());
  }
  return std::move(builder).result();
}

}  // namespace kapitsa
