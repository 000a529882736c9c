#include "text/dialect/arguments.h"

namespace kapitsa::text {
namespace {

std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The inside of the JSON string that says `text`.
std::string escaped(std::string_view text) {
  std::string out = dump(Json(text));
  out.pop_back();
  out.erase(0, 1);
  return out;
}

}  // namespace

void ArgumentWriter::begin(const std::string& key, bool quoted) {
  key_ = key;
  quoted_ = quoted;
  dropped_ = !keys_.insert(key).second;
  schema_ = parameters_.member(key);
  types_ = schema_.types();
  streams_ = false;
  held_.clear();
}

// Python's and JSON's null, for a member that may be null: only its end tells whether it is a
// string.
bool ArgumentWriter::may_be_null_word() const {
  if (quoted_ || !(types_ & kNull)) return false;
  for (const std::string_view word : {"null", "None"}) {
    if (word.substr(0, held_.size()) == held_) return true;
  }
  return false;
}

void ArgumentWriter::text(std::string_view piece) {
  if (dropped_) return;
  if (streams_) {
    out_ += escaped(piece);
    return;
  }
  held_ += piece;
  const bool string = quoted_ ? (types_ & kString) != 0 : (types_ & ~kNull) == kString;
  if (!string || may_be_null_word()) return;
  streams_ = true;
  put_key();
  out_ += '"' + escaped(held_);
  held_.clear();
}

void ArgumentWriter::end() {
  if (dropped_) return;
  if (streams_) {
    out_ += '"';
  } else if (quoted_) {
    put_value(coerce(held_, schema_));
  } else {
    put_value(value_of(held_, schema_));
  }
}

void ArgumentWriter::member(const std::string& key, Json value) {
  if (value.is_string()) {
    begin(key, true);
    text(value.get_ref<const std::string&>());
    end();
    return;
  }
  begin(key, false);
  if (!dropped_) put_value(coerce(std::move(value), schema_));
}

void ArgumentWriter::put_value(const Json& value) {
  if (value.is_null() && !(types_ & kNull) && !parameters_.requires_member(key_)) return;
  put_key();
  out_ += dump(value);
}

void ArgumentWriter::put_key() {
  out_ += any_ ? "," : "{";
  any_ = true;
  out_ += dump(Json(key_)) + ":";
}

void ArgumentWriter::close() {
  out_ += any_ ? "}" : "{}";
}

std::string ArgumentWriter::take() {
  std::string out = std::move(out_);
  out_.clear();
  return out;
}

}  // namespace kapitsa::text
