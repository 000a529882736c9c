#include "text/dialect/parser.h"

#include <algorithm>
#include <utility>

#include "text/unicode/utf8.h"

namespace kapitsa::text {
namespace {

enum Id { kThinkOpen, kThinkClose, kWrapperOpen, kWrapperClose, kCallClose, kFirstForm };

constexpr size_t kTail = 64;  // longer than any marker

// Moves the whole characters from `bytes` to `to`; `all`: also what is cut off.
void take_characters(std::string& bytes, std::string& to, bool all) {
  size_t at = 0;
  while (at < bytes.size()) {
    const Sequence found = sequence_at(bytes, at);
    if (found.kind == Sequence::kCut && !all) break;
    if (found.kind == Sequence::kWhole) {
      to.append(bytes, at, found.length);
    } else {
      append_utf8(to, 0xFFFD);
    }
    at += found.length;
  }
  bytes.erase(0, at);
}

// Of a tagged form whose calls need no wrapper: what they begin with.
const Spellings* bare_open(const CallForm& form) {
  const auto* tagged = std::get_if<TaggedForm>(&form.body);
  return tagged && form.without_open ? &tagged->name_open : nullptr;
}

}  // namespace

DialectParser::DialectParser(const Dialect& dialect, std::shared_ptr<const ToolSet> tools,
                             bool opened)
    : dialect_(&dialect),
      tools_(std::move(tools)),
      calls_(dialect.calls && tools_ && !tools_->empty()) {
  if (opened) {
    begin_segment(/*thinking=*/true, "\n");
    state_ = State::kThought;
  }
}

DialectEvents DialectParser::push(std::string_view text) {
  bytes_ += text;
  take_characters(bytes_, pending_, false);
  return run(false);
}

DialectEvents DialectParser::finish() {
  take_characters(bytes_, pending_, true);
  return run(true);
}

DialectEvents DialectParser::run(bool last) {
  while (step(last)) {
  }
  if (last) {
    if (reader_ && reader_->begun()) end_call(Kind::kCallCut);
    flush_space();
  }
  // Until it is clear that what began is a call, it may have to be read again as text.
  const bool undecided = state_ == State::kOpened || (reader_ && !reader_->begun());
  const size_t used = undecided ? start_ : at_;
  pending_.erase(0, used);
  at_ -= used;
  start_ = 0;
  return std::exchange(events_, {});
}

bool DialectParser::step(bool last) {
  switch (state_) {
    case State::kStart:
      return start(last);
    case State::kThought:
      return start_of_thought(last);
    case State::kProse:
      return prose(last);
    case State::kOpened:
      return opened(last);
    case State::kCall:
      return call(last);
    default:
      return after_call(last);
  }
}

// The start of an answer whose prompt has opened no thought.
bool DialectParser::start(bool last) {
  Markers tags;
  tags.add(kThinkOpen, dialect_->thinking.open);
  tags.add(kThinkClose,
           dialect_->thinking.close);  // of a thought that the prompt has closed already
  const auto found = behind_space(tags, last);
  if (found.state == Markers::State::kPart) return false;
  if (found.state == Markers::State::kWhole)
    begin_segment(/*thinking=*/found.id == kThinkOpen, "\n");
  return true;
}

// The start of a thought: models open it again that the prompt has opened.
bool DialectParser::start_of_thought(bool last) {
  Markers open;
  open.add(kThinkOpen, dialect_->thinking.open);
  return behind_space(open, last).state != Markers::State::kPart;
}

// Reads one of `tags` behind white space, which is dropped with it, and goes on to prose; kPart:
// more text is needed.
Markers::Found DialectParser::behind_space(const Markers& tags, bool last) {
  const size_t begin = skip_space(pending_, at_);
  lead_.append(pending_, at_, begin - at_);
  at_ = begin;
  Markers::Found found;
  if (begin == pending_.size() && !last) {
    found.state = Markers::State::kPart;
  } else {
    found = tags.at(pending_, begin);
    if (last && found.state == Markers::State::kPart) found = {};
  }
  if (found.state == Markers::State::kPart) return found;
  if (found.state == Markers::State::kNone) say(lead_);
  at_ += found.length;
  lead_.clear();
  state_ = State::kProse;
  return found;
}

bool DialectParser::prose(bool last) {
  Markers markers;
  if (thinking_ || thought_open_) markers.add(kThinkClose, dialect_->thinking.close);
  if (calls_) {
    markers.add(kWrapperOpen, dialect_->calls->open);
    markers.add(kWrapperClose, dialect_->calls->close);
    for (size_t i = 0; i < dialect_->calls->forms.size(); ++i) {
      const CallForm& form = dialect_->calls->forms[i];
      if (const Spellings* open = bare_open(form))
        markers.add(kFirstForm + static_cast<int>(i), *open);
      if (!std::holds_alternative<JsonForm>(form.body) || !form.without_open || said_ || thinking_)
        continue;
      const size_t brace = skip_space(pending_, at_);
      if (brace == pending_.size() || pending_[brace] != '{') continue;
      say(std::string_view(pending_).substr(at_, brace - at_));
      at_ = brace;
      wrapped_ = inside_ = false;
      read(form, 1, /*known=*/true);
      return true;
    }
  }
  const auto found = markers.find(pending_, at_);
  const bool whole = found.state == Markers::State::kWhole;
  const size_t end =
      whole || (found.state == Markers::State::kPart && !last) ? found.at : pending_.size();
  const size_t begin = at_;
  at_ = end;
  say(std::string_view(pending_).substr(begin, end - begin));
  if (!whole) return false;
  if (found.id == kThinkClose && thinking_) {
    at_ += found.length;
    begin_segment(/*thinking=*/false, "\n");
  } else if (found.id == kThinkClose) {
    thought_open_ = false;
    space_.clear();
    drop(found);
    said_ = false;
    dropped_first_ = "\n";
  } else if (found.id == kWrapperClose) {
    drop(found);
  } else if (found.id == kWrapperOpen) {
    start_ = at_;
    start_length_ = found.length;
    wrapped_ = inside_ = true;
    at_ += found.length;
    state_ = State::kOpened;
  } else {
    wrapped_ = inside_ = false;
    read(dialect_->calls->forms[static_cast<size_t>(found.id - kFirstForm)], found.length,
         /*known=*/true);
  }
  return true;
}

// Behind the wrapper's opener.
bool DialectParser::opened(bool last) {
  at_ = skip_space(pending_, at_);
  if (at_ == pending_.size()) {
    if (last) not_a_call();
    return last;
  }
  const CallSyntax& calls = *dialect_->calls;
  Markers markers;
  markers.add(kWrapperOpen, calls.open);
  markers.add(kWrapperClose, calls.close);
  for (size_t i = 0; i < calls.forms.size(); ++i) {
    if (const auto* tagged = std::get_if<TaggedForm>(&calls.forms[i].body)) {
      markers.add(kFirstForm + static_cast<int>(i), tagged->name_open);
    }
  }
  const auto found = markers.at(pending_, at_);
  if (found.state == Markers::State::kPart && !last) return false;
  if (found.state == Markers::State::kWhole && found.id >= kFirstForm) {
    read(calls.forms[static_cast<size_t>(found.id - kFirstForm)], found.length, /*known=*/false);
    return true;
  }
  if (found.state == Markers::State::kWhole) {
    // Opened twice, or closed at once.
    not_a_call();
    return true;
  }
  for (const CallForm& form : calls.forms) {
    const auto* tagged = std::get_if<TaggedForm>(&form.body);
    const bool json = pending_[at_] == '{';
    if (tagged ? tagged->name_open.empty() && !json && pending_[at_] != '[' : json) {
      read(form, json ? 1 : 0, /*known=*/false);
      return true;
    }
  }
  if (pending_[at_] == '[') {  // a list of calls
    ++at_;
    return true;
  }
  not_a_call();
  return true;
}

void DialectParser::read(const CallForm& form, size_t skip, bool known) {
  if (!wrapped_) {
    start_ = at_;
    start_length_ = skip;
  }
  at_ += skip;
  const auto* tagged = std::get_if<TaggedForm>(&form.body);
  json_ = tagged == nullptr;
  reader_ = tagged ? read_tagged(*tagged, *dialect_->calls, *tools_, known)
                   : read_json(std::get<JsonForm>(form.body), *dialect_->calls, *tools_, known);
  state_ = State::kCall;
}

bool DialectParser::call(bool last) {
  const bool begun = reader_->begun();
  const auto state = reader_->take(pending_, at_, last);
  if (!begun && reader_->begun()) {
    space_.clear();
    thought_open_ = thought_open_ || thinking_;
    emit(Kind::kCallBegin, reader_->name());
  }
  if (reader_->begun()) emit(Kind::kArguments, reader_->take_arguments());
  switch (state) {
    case CallReader::State::kMore:
      if (!last || reader_->begun()) return false;
      not_a_call();
      return true;
    case CallReader::State::kDone:
      end_call(Kind::kCallEnd);
      return true;
    case CallReader::State::kBroken:
      end_call(Kind::kCallCut);
      return true;
    default:
      not_a_call();
      return true;
  }
}

void DialectParser::end_call(Kind how) {
  emit(how, {});
  ++count_;
  reader_.reset();
  begin_segment(/*thinking=*/false, kWhiteSpace);
  state_ = State::kAfterCall;
}

void DialectParser::not_a_call() {
  reader_.reset();
  state_ = State::kProse;
  at_ = start_;
  if (wrapped_) {
    drop({Markers::State::kWhole, start_, start_length_, kWrapperOpen});
    return;
  }
  at_ += start_length_;
  say(std::string_view(pending_).substr(start_, start_length_));
}

// Inside of the wrapper still, if there was one: its close follows, or one more call.
bool DialectParser::after_call(bool last) {
  at_ = skip_space(pending_, at_);
  if (at_ == pending_.size()) return false;
  const CallSyntax& calls = *dialect_->calls;
  Markers markers;
  markers.add(kWrapperClose, calls.close);
  for (size_t i = 0; i < calls.forms.size(); ++i) {
    if (const Spellings* open = bare_open(calls.forms[i]))
      markers.add(kFirstForm + static_cast<int>(i), *open);
    if (const auto* tagged = std::get_if<TaggedForm>(&calls.forms[i].body))
      markers.add(kCallClose, tagged->close);
  }
  const auto found = markers.at(pending_, at_);
  if (found.state == Markers::State::kPart && !last) return false;
  if (found.state == Markers::State::kWhole && found.id == kCallClose) {
    at_ += found.length;  // twice, or of a call that was given up
    return true;
  }
  if (found.state == Markers::State::kWhole && found.id >= kFirstForm) {
    wrapped_ = false;
    read(calls.forms[static_cast<size_t>(found.id - kFirstForm)], found.length, /*known=*/!inside_);
    return true;
  }
  if (found.state == Markers::State::kWhole) {
    at_ += found.length;
  } else if (json_ && (pending_[at_] == '}' || pending_[at_] == ']' || pending_[at_] == ',')) {
    ++at_;
    return true;
  }
  state_ = State::kProse;
  return true;
}

void DialectParser::begin_segment(bool thinking, std::string_view dropped_first) {
  thinking_ = thinking;
  said_ = false;
  dropped_first_ = dropped_first;
  space_.clear();
  tail_.clear();
}

void DialectParser::say(std::string_view text) {
  if (!said_ && space_.empty()) {
    text.remove_prefix(std::min(text.find_first_not_of(dropped_first_), text.size()));
  }
  if (text.empty()) return;
  // A tag may follow white space, and then the white space is the tag's.
  const std::string_view held = thinking_ ? "\n" : calls_ ? kWhiteSpace : "";
  const size_t end = text.find_last_not_of(held) + 1;
  if (end == 0) {
    space_ += text;
    return;
  }
  flush_space();
  said_ = true;
  emit(thinking_ ? Kind::kReasoning : Kind::kText, text.substr(0, end));
  space_ = text.substr(end);
}

void DialectParser::flush_space() {
  if (space_.empty()) return;
  emit(thinking_ ? Kind::kReasoning : Kind::kText, space_);
  space_.clear();
}

void DialectParser::drop(const Markers::Found& marker) {
  at_ = marker.at + marker.length;
  Markers calls;
  calls.add(kWrapperOpen, dialect_->calls->open);
  calls.add(kWrapperClose, dialect_->calls->close);
  if (calls.find(tail_ + space_.substr(space_.size() - std::min(space_.size(), kTail)), 0).state !=
      Markers::State::kNone)
    space_ += ' ';
}

void DialectParser::emit(Kind kind, std::string_view text) {
  const bool prose = kind == Kind::kText || kind == Kind::kReasoning;
  if (prose) {
    tail_ += text;
    if (tail_.size() > kTail) tail_.erase(0, tail_.size() - kTail);
  }
  if (text.empty() && (prose || kind == Kind::kArguments)) return;
  if (!events_.empty() && events_.back().kind == kind && (prose || kind == Kind::kArguments)) {
    events_.back().text += text;
    return;
  }
  events_.push_back({kind, std::string(text), prose ? 0 : count_});
}

}  // namespace kapitsa::text
