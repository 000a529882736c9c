#include "text/dialect/json_members.h"

#include "text/dialect/loose_json.h"
#include "text/dialect/markers.h"

namespace kapitsa::text {

bool JsonValueScanner::take(std::string_view text, size_t& at, size_t limit, std::string& out) {
  for (; at < (quote_ != 0 ? text.size() : limit); ++at) {
    const char c = text[at];
    if (quote_ != 0) {
      if (!escaped_ && c == quote_) quote_ = 0;
      escaped_ = !escaped_ && c == '\\';
    } else if (c == '"' || c == '\'') {
      quote_ = c;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if (c == '}' || c == ']') {
      if (depth_ == 0) return true;
      if (--depth_ == 0) {
        ++at;
        out += c;
        return true;
      }
    } else if (depth_ == 0 && (c == ',' || c == ' ' || c == '\n' || c == '\r' || c == '\t')) {
      return true;
    }
    out += c;
  }
  return false;
}

bool JsonMembersReader::take(std::string_view text, size_t& at, size_t limit,
                             ArgumentWriter& writer) {
  for (;;) {
    const bool in_string =
        state_ == State::kInKey || state_ == State::kInString || state_ == State::kInRaw;
    if (at >= (in_string ? text.size() : limit)) return false;
    const char c = text[at];
    switch (state_) {
      case State::kKey:
        ++at;
        if (c == '}') return true;
        if (c != '"' && c != '\'') break;  // white space, a comma, or nothing that means something
        string_ = JsonStringDecoder(c);
        key_.clear();
        state_ = State::kInKey;
        break;
      case State::kInKey:
        if (string_.take(text, at, key_)) state_ = State::kColon;
        break;
      case State::kColon:
        ++at;
        if (c == ':') state_ = State::kValue;
        break;
      case State::kValue:
        if (c == '"' || c == '\'') {
          ++at;
          string_ = JsonStringDecoder(c);
          writer.begin(key_, /*quoted=*/true);
          state_ = State::kInString;
        } else if (c == '}' || c == ',') {
          state_ = State::kKey;  // a key without a value
        } else if (skip_space(text, at) > at) {
          ++at;
        } else {
          scanner_ = {};
          raw_.clear();
          state_ = State::kInRaw;
        }
        break;
      case State::kInString: {
        std::string piece;
        const bool closed = string_.take(text, at, piece);
        if (!piece.empty()) writer.text(piece);
        if (closed) {
          writer.end();
          state_ = State::kKey;
        }
        break;
      }
      case State::kInRaw: {
        const size_t before = at;
        if (scanner_.take(text, at, limit, raw_)) {
          put_raw(writer);
        } else if (at == before) {
          return false;
        }
        break;
      }
    }
  }
}

void JsonMembersReader::put_raw(ArgumentWriter& writer) {
  state_ = State::kKey;
  if (auto value = read_loose_json(raw_)) {
    writer.member(key_, *std::move(value));
    return;
  }
  writer.begin(key_, /*quoted=*/false);
  writer.text(raw_);
  writer.end();
}

bool JsonMembersReader::stop(ArgumentWriter& writer) {
  if (state_ == State::kInRaw && scanner_.may_end()) put_raw(writer);
  return state_ == State::kKey || state_ == State::kColon || state_ == State::kValue;
}

}  // namespace kapitsa::text
