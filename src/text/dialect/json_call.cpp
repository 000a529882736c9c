// The JSON form: one object with the tool's name and its arguments, in any order.
#include <algorithm>

#include "text/dialect/call_reader.h"
#include "text/dialect/json_members.h"
#include "text/dialect/loose_json.h"
#include "text/dialect/markers.h"

namespace kapitsa::text {
namespace {

bool is_space(char c) {
  return kWhiteSpace.find(c) != kWhiteSpace.npos;
}

bool is_one_of(std::string_view key, const Spellings& keys) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

class JsonCallReader : public CallReader {
 public:
  JsonCallReader(const JsonForm& form, const CallSyntax& syntax, const ToolSet& tools, bool known)
      : CallReader(tools), form_(form), known_(known) {
    ends_.add(0, syntax.close);
  }

  State take(std::string_view text, size_t& at, bool last) override {
    for (;;) {
      // Outside of strings the wrapper's close ends the object, whatever is still open.
      const Markers::Found end = ends_.find(text, at);
      const bool part = end.state == Markers::State::kPart && !last;
      const bool whole = end.state == Markers::State::kWhole;
      const State state = read(text, at, part || whole ? end.at : text.size());
      if (state != State::kMore) return state;
      if (whole && at == end.at) return stop();
      if (whole && at > end.at) continue;  // it was inside of a string
      if (!last) return State::kMore;
      // Nothing is missing but brackets.
      return begun() && arguments_done_ ? State::kDone : State::kMore;
    }
  }

 private:
  enum class At { kKey, kInKey, kColon, kValue, kName, kMembers, kText, kRaw };

  State read(std::string_view text, size_t& at, size_t limit);
  State on_value(char c, size_t& at);
  // Behind a value that was kept as text.
  State on_kept();
  void write_kept();
  State done();

  // Without a wrapper only a name and arguments, in that order, are a call.
  bool undecided() const { return known_ && !begun(); }

  State stop() {
    if (at_ == At::kMembers && members_.stop(arguments_)) {
      arguments_.close();
      arguments_done_ = true;
      at_ = At::kKey;
    }
    return at_ == At::kKey ? done() : begun() ? State::kBroken : State::kNoCall;
  }

  const JsonForm& form_;
  const bool known_;
  Markers ends_;

  At at_ = At::kKey;
  JsonStringDecoder string_;
  JsonValueScanner scanner_;
  JsonMembersReader members_;
  std::string key_;
  std::string name_text_;
  std::string kept_;  // a value, or the inside of a string
  bool named_ = false;
  bool arguments_done_ = false;
  std::optional<Json> early_;  // arguments that came before the name
};

CallReader::State JsonCallReader::read(std::string_view text, size_t& at, size_t limit) {
  for (;;) {
    const bool in_string = at_ == At::kInKey || at_ == At::kName || at_ == At::kText ||
                           at_ == At::kMembers || at_ == At::kRaw;
    if (at >= (in_string ? text.size() : limit)) return State::kMore;
    const char c = text[at];
    switch (at_) {
      case At::kKey:
        ++at;
        if (c == '}') return done();
        if (c != '"' && c != '\'') {
          if (undecided() && !is_space(c) && !(named_ && c == ',')) return State::kNoCall;
          break;
        }
        string_ = JsonStringDecoder(c);
        key_.clear();
        at_ = At::kInKey;
        break;
      case At::kInKey: {
        const bool closed = string_.take(text, at, key_);
        if (undecided() && (closed || key_.size() > kMaxName) &&
            !is_one_of(key_, named_ ? form_.arguments_keys : form_.name_keys)) {
          return State::kNoCall;
        }
        if (closed) at_ = At::kColon;
        break;
      }
      case At::kColon:
        ++at;
        if (c == ':') at_ = At::kValue;
        if (undecided() && c != ':' && !is_space(c)) return State::kNoCall;
        break;
      case At::kValue:
        if (is_space(c)) {
          ++at;
        } else if (const State state = on_value(c, at); state != State::kMore) {
          return state;
        }
        break;
      case At::kName: {
        const bool closed = string_.take(text, at, name_text_);
        if (name_text_.size() > kMaxName) return State::kNoCall;
        if (!closed) break;
        if (!set_name(name_text_, known_)) return State::kNoCall;
        named_ = true;
        at_ = At::kKey;
        if (!known_) begin();
        if (early_) write_kept();
        break;
      }
      case At::kMembers: {
        const size_t before = at;
        if (members_.take(text, at, limit, arguments_)) {
          arguments_.close();
          arguments_done_ = true;
          at_ = At::kKey;
        } else if (at == before) {
          return State::kMore;
        }
        break;
      }
      case At::kText:
        if (string_.take(text, at, kept_)) {
          if (const State state = on_kept(); state != State::kMore) return state;
        }
        break;
      case At::kRaw: {
        const size_t before = at;
        if (scanner_.take(text, at, limit, kept_)) {
          if (const State state = on_kept(); state != State::kMore) return state;
        } else if (at == before) {
          return State::kMore;
        }
        break;
      }
    }
  }
}

CallReader::State JsonCallReader::on_value(char c, size_t& at) {
  const bool quote = c == '"' || c == '\'';
  if (is_one_of(key_, form_.name_keys) && !named_) {
    if (!quote) return State::kNoCall;
    name_text_.clear();
    at_ = At::kName;
  } else if (is_one_of(key_, form_.arguments_keys) && named_ && !arguments_done_ && c == '{') {
    begin();
    ++at;
    at_ = At::kMembers;
    return State::kMore;
  } else {
    kept_.clear();
    scanner_ = {};
    at_ = quote ? At::kText : At::kRaw;
  }
  if (quote) {
    string_ = JsonStringDecoder(c);
    ++at;
  }
  return State::kMore;
}

CallReader::State JsonCallReader::on_kept() {
  at_ = At::kKey;
  if (!is_one_of(key_, form_.arguments_keys) || arguments_done_) return State::kMore;
  early_ = read_loose_json(kept_);
  if (!early_) early_ = Json();
  if (!named_) return State::kMore;
  begin();
  write_kept();
  return State::kMore;
}

void JsonCallReader::write_kept() {
  if (early_->is_object()) {
    for (auto& [key, value] : early_->items()) arguments_.member(key, std::move(value));
  }
  early_.reset();
  arguments_.close();
  arguments_done_ = true;
}

CallReader::State JsonCallReader::done() {
  if (!begun()) return State::kNoCall;
  if (!arguments_done_) arguments_.close();
  return State::kDone;
}

}  // namespace

std::unique_ptr<CallReader> read_json(const JsonForm& form, const CallSyntax& syntax,
                                      const ToolSet& tools, bool known) {
  return std::make_unique<JsonCallReader>(form, syntax, tools, known);
}

}  // namespace kapitsa::text
