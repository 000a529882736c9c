// How long work that somebody waits for learns that it should end: its caller has left, or the time
// it was given is over.
#pragma once

#include <chrono>
#include <memory>

#include "base/status.h"

namespace kapitsa {

// A handle: copies speak of the same work. Any thread may use any copy.
class Cancel {
 public:
  using Clock = std::chrono::steady_clock;

  // Never ends the work; stop() does nothing.
  Cancel() = default;
  // Ends the work when stop() is called, and `limit` after now.
  static Cancel within(Clock::duration limit);

  void stop() const;
  // Some tens of nanoseconds: asked once in a thousand small steps.
  bool stopped() const;
  // kCancelled after stop(), kInvalid after the limit: the input is too much work.
  Status status() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace kapitsa
