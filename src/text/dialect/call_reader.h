// Reads one call, from where its form begins, while it comes.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "text/dialect/arguments.h"
#include "text/dialect/dialect.h"
#include "text/dialect/tools.h"

namespace kapitsa::text {

// No tool's name is longer.
inline constexpr size_t kMaxName = 256;
// What is no part of a name or a key, at its ends.
inline constexpr std::string_view kAroundNames = " \t\r\n\"'";

class CallReader {
 public:
  enum class State {
    kMore,    // what there is was read
    kDone,    // the call is whole
    kBroken,  // it has begun, and cannot be whole any more
    kNoCall,  // what is there is no call; nothing of it counts
  };

  virtual ~CallReader() = default;

  // Reads `text` from `at` on and moves `at` behind what it read; until begun() is true, `text`
  // must keep what was there. `last`: nothing follows.
  virtual State take(std::string_view text, size_t& at, bool last) = 0;

  bool begun() const { return begun_; }
  const std::string& name() const { return name_; }
  // The arguments' JSON text since the last time.
  std::string take_arguments() { return arguments_.take(); }

 protected:
  explicit CallReader(const ToolSet& tools) : tools_(tools) {}

  // Takes the name: false where it is none, or is not offered although it must be (`known`).
  bool set_name(std::string_view name, bool known);
  void begin() { begun_ = true; }

  const ToolSet& tools_;
  ArgumentWriter arguments_;

 private:
  std::string name_;
  bool begun_ = false;
};

// `known`: it is a call only if the name is that of a tool, and what follows the name is a call
// too. The reader begins behind the form's name_open (TaggedForm) or brace (JsonForm), and leaves
// the wrapper's close where it is.
std::unique_ptr<CallReader> read_tagged(const TaggedForm& form, const CallSyntax& syntax,
                                        const ToolSet& tools, bool known);
std::unique_ptr<CallReader> read_json(const JsonForm& form, const CallSyntax& syntax,
                                      const ToolSet& tools, bool known);

}  // namespace kapitsa::text
