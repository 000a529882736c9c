// The tagged forms: a name, then keys and values between markers.
#include <algorithm>

#include "text/dialect/call_reader.h"
#include "text/dialect/json_members.h"
#include "text/dialect/markers.h"

namespace kapitsa::text {
namespace {

// How much white space behind a marker is waited through to see what follows it.
constexpr size_t kMaxSpace = 64;

// The part of `text` in which a name or a key that begins at `at` must end, with room for what ends
// it.
std::string_view name_window(std::string_view text, size_t at) {
  return text.substr(0, at + kMaxName + kMaxSpace);
}

enum Id {
  kNameOpen,
  kNameClose,
  kKeyOpen,
  kKeyClose,
  kValueOpen,
  kValueClose,
  kClose,
  kWrapperOpen,
  kWrapperClose
};

class TaggedCallReader : public CallReader {
 public:
  TaggedCallReader(const TaggedForm& form, const CallSyntax& syntax, const ToolSet& tools,
                   bool known)
      : CallReader(tools), form_(form), known_(known), bare_(form.name_open.empty()) {
    name_close_.add(kNameClose, form.name_close);
    key_close_.add(kKeyClose, form.key_close);
    for (Markers* one : {&between_, &followers_}) {
      one->add(kKeyOpen, form.key_open);
      one->add(kValueClose, form.value_close);
      one->add(kClose, form.close);
      one->add(kWrapperOpen, syntax.open);
      one->add(kWrapperClose, syntax.close);
      one->add(kNameOpen, form.name_open);
    }
    between_.add(kValueOpen, form.value_open);
    in_value_.add(kKeyOpen, form.key_open);
    in_value_.add(kValueClose, form.value_close);
    in_value_.add(kClose, form.close);
    in_value_.add(kWrapperClose, syntax.close);
    json_ends_.add(kClose, form.close);
    json_ends_.add(kWrapperClose, syntax.close);
  }

  State take(std::string_view text, size_t& at, bool last) override {
    for (;;) {
      const Step step = [&] {
        switch (at_) {
          case At::kName:
            return name(text, at, last);
          case At::kNamed:
            return named(text, at, last);
          case At::kBetween:
            return between(text, at, last);
          case At::kKey:
            return key(text, at);
          case At::kBeforeValue:
            return before_value(text, at, last);
          case At::kValue:
            return value(text, at, last);
          default:
            return json(text, at, last);
        }
      }();
      if (step != Step::kOn) {
        return step == Step::kWait     ? State::kMore
               : step == Step::kDone   ? State::kDone
               : step == Step::kBroken ? State::kBroken
                                       : State::kNoCall;
      }
    }
  }

 private:
  enum class At { kName, kNamed, kBetween, kKey, kBeforeValue, kValue, kJson };
  enum class Step { kOn, kWait, kDone, kBroken, kNoCall };
  enum class Verdict { kYes, kNo, kWait };

  Step name(std::string_view text, size_t& at, bool last);
  Step named(std::string_view text, size_t& at, bool last);
  Step between(std::string_view text, size_t& at, bool last);
  Step key(std::string_view text, size_t& at);
  Step before_value(std::string_view text, size_t& at, bool last);
  Step value(std::string_view text, size_t& at, bool last);
  Step json(std::string_view text, size_t& at, bool last);
  Step done();

  Verdict ends_value(std::string_view text, size_t start, const Markers::Found& marker,
                     bool last) const;
  // Whether one of `ids` follows at `at`, behind white space; the end of all text counts as one.
  Verdict followed_by(std::string_view text, size_t at, std::initializer_list<Id> ids,
                      bool last) const;
  void write(std::string_view piece) {
    if (piece.empty()) return;
    arguments_.text(piece);
    value_empty_ = false;
  }

  const TaggedForm& form_;
  const bool known_, bare_;
  Markers name_close_, key_close_, between_, followers_, in_value_, json_ends_;

  At at_ = At::kName;
  bool any_ = false;  // a member was read
  std::string key_;
  bool value_begun_ = false;  // its padding is behind it
  bool value_empty_ = true;   // nothing of it was written
  JsonMembersReader members_;
};

TaggedCallReader::Step TaggedCallReader::done() {
  arguments_.close();
  return Step::kDone;
}

TaggedCallReader::Step TaggedCallReader::name(std::string_view text, size_t& at, bool last) {
  text = name_window(text, at);
  bool ended = false;
  size_t end = text.size(), next = text.size();
  if (bare_) {
    end = next = std::min(text.find_first_of(" \t\r\n<{", at), text.size());
    ended = end < text.size() || last;
  } else {
    const auto found = name_close_.find(text, at);
    ended = found.state == Markers::State::kWhole;
    if (found.state != Markers::State::kNone) end = found.at;
    next = end + found.length;
  }
  if (end - at > kMaxName) return Step::kNoCall;
  if (!ended) return last ? Step::kNoCall : Step::kWait;
  if (!set_name(text.substr(at, end - at), known_)) return Step::kNoCall;
  at = next;
  at_ = At::kNamed;
  // Behind a wrapper and in its own tags, a name is a call whatever follows.
  if (!known_ && !bare_) {
    begin();
    at_ = At::kBetween;
  }
  return Step::kOn;
}

TaggedCallReader::Step TaggedCallReader::named(std::string_view text, size_t& at, bool last) {
  const bool offered = tools_.has(CallReader::name());
  const size_t start = skip_space(text, at);
  if (start - at > kMaxSpace) return Step::kNoCall;
  if (start == text.size()) {
    if (!last) return Step::kWait;
    if (known_ || !offered) return Step::kNoCall;
  } else if (text[start] != '{' || !offered) {
    const auto found = followers_.at(text, start);
    if (found.state == Markers::State::kPart && !last) return Step::kWait;
    // A bare word that is no tool's name needs more than the wrapper's end to be one.
    const bool call =
        found.state == Markers::State::kWhole && (found.id == kKeyOpen || found.id == kClose ||
                                                  (found.id == kWrapperClose && bare_ && offered));
    if (!call) return Step::kNoCall;
  }
  begin();
  at = start;
  at_ = At::kBetween;
  return Step::kOn;
}

TaggedCallReader::Step TaggedCallReader::between(std::string_view text, size_t& at, bool last) {
  at = skip_space(text, at);
  if (at == text.size()) return Step::kWait;
  if (text[at] == '{' && !any_) {
    ++at;
    at_ = At::kJson;
    return Step::kOn;
  }
  const auto found = between_.at(text, at);
  if (found.state == Markers::State::kPart && !last) return Step::kWait;
  if (found.state != Markers::State::kWhole) {
    ++at;  // text where none belongs
    return Step::kOn;
  }
  switch (found.id) {
    case kKeyOpen:
      at += found.length;
      at_ = At::kKey;
      return Step::kOn;
    case kClose:
      at += found.length;
      return done();
    case kWrapperClose:
    case kWrapperOpen:
    case kNameOpen:
      return done();  // its own close is missing
    default:
      at += found.length;
      return Step::kOn;
  }
}

TaggedCallReader::Step TaggedCallReader::key(std::string_view text, size_t& at) {
  text = name_window(text, at);
  const auto found = key_close_.find(text, at);
  if ((found.state == Markers::State::kNone ? text.size() : found.at) - at > kMaxName) {
    at_ = At::kBetween;  // no key: text where none belongs
    return Step::kOn;
  }
  if (found.state != Markers::State::kWhole) return Step::kWait;
  any_ = true;
  key_ = trim(text.substr(at, found.at - at), kAroundNames);
  at = found.at + found.length;
  value_begun_ = false;
  at_ = form_.value_open.empty() ? At::kValue : At::kBeforeValue;
  return Step::kOn;
}

TaggedCallReader::Step TaggedCallReader::before_value(std::string_view text, size_t& at,
                                                      bool last) {
  const size_t start = skip_space(text, at);
  if (start - at > kMaxSpace) {
    at_ = At::kValue;
    return Step::kOn;
  }
  if (start == text.size() && !last) return Step::kWait;
  const auto found = between_.at(text, start);
  if (found.state == Markers::State::kPart && !last) return Step::kWait;
  if (found.state == Markers::State::kWhole) {
    if (found.id == kValueOpen) {
      at = start + found.length;
    } else if (found.id != kValueClose) {
      at_ = At::kBetween;  // a key without a value
      return Step::kOn;
    }
  }
  at_ = At::kValue;
  return Step::kOn;
}

TaggedCallReader::Step TaggedCallReader::value(std::string_view text, size_t& at, bool last) {
  const std::string_view padding = form_.padding;
  if (!value_begun_) {
    const std::string_view rest = text.substr(at);
    if (!last && rest.size() < padding.size() && padding.substr(0, rest.size()) == rest)
      return Step::kWait;
    if (rest.substr(0, padding.size()) == padding) at += padding.size();
    arguments_.begin(key_, /*quoted=*/false);
    value_begun_ = value_empty_ = true;
  }
  size_t from = at;
  for (;;) {
    const auto found = in_value_.find(text, from);
    Verdict verdict = Verdict::kNo;
    if (found.state == Markers::State::kWhole) verdict = ends_value(text, at, found, last);
    if (found.state == Markers::State::kPart && !last) verdict = Verdict::kWait;
    if (found.state != Markers::State::kNone && verdict == Verdict::kNo) {
      from = found.at + 1;
      continue;
    }
    std::string_view piece =
        text.substr(at, found.state == Markers::State::kNone ? text.npos : found.at - at);
    if (verdict == Verdict::kYes) {
      if (piece.size() >= padding.size() &&
          piece.substr(piece.size() - padding.size()) == padding) {
        piece.remove_suffix(padding.size());
      }
      write(piece);
      arguments_.end();
      at = found.at + (found.id == kValueClose ? found.length : 0);
      at_ = At::kBetween;
      return Step::kOn;
    }
    // The padding belongs to the marker that may follow.
    size_t keep = last ? 0 : std::min(padding.size(), piece.size());
    while (keep > 0 && piece.substr(piece.size() - keep) != padding.substr(0, keep)) --keep;
    piece.remove_suffix(keep);
    write(piece);
    at += piece.size();
    return Step::kWait;
  }
}

TaggedCallReader::Verdict TaggedCallReader::followed_by(std::string_view text, size_t at,
                                                        std::initializer_list<Id> ids,
                                                        bool last) const {
  const size_t start = skip_space(text, at);
  if (start - at > kMaxSpace) return Verdict::kYes;
  if (start == text.size()) return last ? Verdict::kYes : Verdict::kWait;
  const auto found = followers_.at(text, start);
  if (found.state == Markers::State::kPart) return last ? Verdict::kYes : Verdict::kWait;
  const bool fits = found.state == Markers::State::kWhole &&
                    std::any_of(ids.begin(), ids.end(), [&](Id id) { return id == found.id; });
  return fits ? Verdict::kYes : Verdict::kNo;
}

// A value may hold anything, markers too: one ends it only where what follows goes on with the
// call.
TaggedCallReader::Verdict TaggedCallReader::ends_value(std::string_view text, size_t start,
                                                       const Markers::Found& marker,
                                                       bool last) const {
  const size_t behind = marker.at + marker.length;
  if (marker.id == kValueClose) {
    return followed_by(text, behind,
                       {kKeyOpen, kValueClose, kClose, kWrapperOpen, kWrapperClose, kNameOpen},
                       last);
  }
  // The value's own close is missing: any other marker stands where a value that was written
  // properly would have ended, and is more than a marker.
  const std::string_view padding = form_.padding;
  const size_t before = marker.at - start;
  const bool in_place = (before == 0 && value_empty_) ||
                        (before >= padding.size() &&
                         text.substr(marker.at - padding.size(), padding.size()) == padding);
  if (!in_place) return Verdict::kNo;
  if (marker.id == kClose) return followed_by(text, behind, {kWrapperClose}, last);
  if (marker.id == kWrapperClose) return followed_by(text, behind, {kWrapperOpen}, last);
  text = name_window(text, behind);
  const auto end = key_close_.find(text, behind);
  if ((end.state == Markers::State::kNone ? text.size() : end.at) - behind > kMaxName)
    return Verdict::kNo;
  if (end.state != Markers::State::kWhole) return last ? Verdict::kNo : Verdict::kWait;
  const std::string key(trim(text.substr(behind, end.at - behind), kAroundNames));
  return arguments_.knows(key) && !arguments_.has(key) ? Verdict::kYes : Verdict::kNo;
}

TaggedCallReader::Step TaggedCallReader::json(std::string_view text, size_t& at, bool last) {
  for (;;) {
    const auto end = json_ends_.find(text, at);
    const bool whole = end.state == Markers::State::kWhole;
    const bool part = end.state == Markers::State::kPart && !last;
    if (members_.take(text, at, whole || part ? end.at : text.size(), arguments_)) {
      any_ = true;
      at_ = At::kBetween;
      return Step::kOn;
    }
    if (!whole || at < end.at) return Step::kWait;
    if (at > end.at) continue;  // it was inside of a string
    if (!members_.stop(arguments_)) return Step::kBroken;
    any_ = true;
    at_ = At::kBetween;
    return Step::kOn;
  }
}

}  // namespace

std::unique_ptr<CallReader> read_tagged(const TaggedForm& form, const CallSyntax& syntax,
                                        const ToolSet& tools, bool known) {
  return std::make_unique<TaggedCallReader>(form, syntax, tools, known);
}

}  // namespace kapitsa::text
