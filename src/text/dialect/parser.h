// What a model writes -> what it says, thinks and calls, while it comes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/dialect/call_reader.h"
#include "text/dialect/dialect.h"
#include "text/dialect/markers.h"
#include "text/dialect/tools.h"

namespace kapitsa::text {

struct DialectEvent {
  enum class Kind {
    kText,
    kReasoning,
    kCallBegin,  // text: the tool's name, which may be one that was not offered
    kArguments,  // text: a piece of the arguments' JSON text
    kCallEnd,    // the pieces of the arguments make up one JSON object, typed by the tool's schema
    kCallCut,    // the call was never ended, or cannot be read: the pieces stay a torso
  };
  Kind kind;
  std::string text;
  int call = 0;  // of an event of a call: which one, from 0
};
using DialectEvents = std::vector<DialectEvent>;

// The events are the same however the text is cut; neighbours of one kind may be cut otherwise. No
// marker of the dialect's calls is ever part of a text or a thought; where there are no tools, they
// are text like any other. Only a thought that begins the answer, or that the prompt has opened, is
// one: further on its tags are text.
class DialectParser {
 public:
  // `opened`: the prompt ended with the opening tag of a thought. `tools` null or empty: no calls.
  DialectParser(const Dialect& dialect, std::shared_ptr<const ToolSet> tools, bool opened);

  // What of the text so far is certain. Bytes that are not UTF-8 become U+FFFD.
  DialectEvents push(std::string_view text);
  // The rest, at the end of the text.
  DialectEvents finish();

 private:
  enum class State { kStart, kThought, kProse, kOpened, kCall, kAfterCall };
  using Kind = DialectEvent::Kind;

  DialectEvents run(bool last);
  bool step(bool last);  // false: more text is needed
  bool start(bool last);
  bool start_of_thought(bool last);
  Markers::Found behind_space(const Markers& tags, bool last);
  bool prose(bool last);
  bool opened(bool last);
  bool call(bool last);
  bool after_call(bool last);

  // Reads a call from at_ on; `skip` bytes of it are a marker.
  void read(const CallForm& form, size_t skip, bool known);
  // What began at start_ is no call.
  void not_a_call();
  void end_call(Kind how);

  void begin_segment(bool thinking, std::string_view dropped_first);
  void say(std::string_view text);
  void flush_space();
  // Leaves out a marker; what is around it must not become one.
  void drop(const Markers::Found& marker);
  void emit(Kind kind, std::string_view text);

  const Dialect* dialect_;
  std::shared_ptr<const ToolSet> tools_;
  bool calls_;  // calls are read

  std::string bytes_;    // the begin of a character
  std::string pending_;  // not read yet from at_ on
  size_t at_ = 0;
  State state_ = State::kStart;
  DialectEvents events_;

  std::string lead_;  // white space at the start, until it is clear whether a tag follows

  // Text or thought without a call or a tag in it:
  bool thinking_ = false;
  bool said_ = false;               // something of it was kept
  std::string_view dropped_first_;  // the characters that are dropped at its start
  std::string space_;               // white space that a tag may follow
  std::string tail_;                // the end of what was said
  bool thought_open_ = false;       // a call has ended a thought, whose closing tag may still come

  std::unique_ptr<CallReader> reader_;
  size_t start_ = 0;         // where what may be a call begins, until it is one
  size_t start_length_ = 0;  // of the marker there
  bool wrapped_ = false;     // the marker is the wrapper's
  bool inside_ = false;      // the wrapper is open
  bool json_ = false;        // the last call was JSON
  int count_ = 0;            // calls so far
};

}  // namespace kapitsa::text
