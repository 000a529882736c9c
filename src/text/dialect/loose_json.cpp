#include "text/dialect/loose_json.h"

#include <cctype>
#include <string>

#include "text/dialect/json_string.h"

namespace kapitsa::text {
namespace {

constexpr int kMaxDepth = 128;

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::optional<Json> read() {
    auto out = value(0);
    skip_space();
    return at_ == text_.size() ? std::move(out) : std::nullopt;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  bool next_is(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::optional<Json> value(int depth) {
    skip_space();
    if (at_ >= text_.size() || depth > kMaxDepth) return std::nullopt;
    switch (text_[at_]) {
      case '{':
        return object(depth);
      case '[':
        return array(depth);
      case '"':
      case '\'': {
        auto out = string();
        if (!out) return std::nullopt;
        return Json(*std::move(out));
      }
      default:
        return word();
    }
  }

  std::optional<std::string> string() {
    std::string out;
    JsonStringDecoder decoder(text_[at_++]);
    return decoder.take(text_, at_, out) ? std::optional(std::move(out)) : std::nullopt;
  }

  std::optional<Json> object(int depth) {
    ++at_;
    Json out = Json::object();
    while (!next_is('}')) {
      skip_space();
      if (at_ >= text_.size() || (text_[at_] != '"' && text_[at_] != '\'')) return std::nullopt;
      auto key = string();
      if (!key || !next_is(':')) return std::nullopt;
      auto member = value(depth + 1);
      if (!member) return std::nullopt;
      out[*key] = *std::move(member);
      if (!next_is(',') && !ahead('}')) return std::nullopt;
    }
    return out;
  }

  std::optional<Json> array(int depth) {
    ++at_;
    Json out = Json::array();
    while (!next_is(']')) {
      auto item = value(depth + 1);
      if (!item) return std::nullopt;
      out.push_back(*std::move(item));
      if (!next_is(',') && !ahead(']')) return std::nullopt;
    }
    return out;
  }

  bool ahead(char c) {
    skip_space();
    return at_ < text_.size() && text_[at_] == c;
  }

  // A number or a literal.
  std::optional<Json> word() {
    const size_t start = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                  text_[at_] == '+' || text_[at_] == '-' || text_[at_] == '.')) {
      ++at_;
    }
    const std::string_view word = text_.substr(start, at_ - start);
    if (word == "true" || word == "True") return Json(true);
    if (word == "false" || word == "False") return Json(false);
    if (word == "null" || word == "None") return Json(nullptr);
    Json number = Json::parse(word, nullptr, /*allow_exceptions=*/false);
    return number.is_number() ? std::optional(std::move(number)) : std::nullopt;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::optional<Json> read_loose_json(std::string_view text) {
  return Reader(text).read();
}

}  // namespace kapitsa::text
