// How long work that somebody waits for learns that it should end: its caller has left, or the time
// it was given is over.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string_view>

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
  // The same work with a limit of its own, from now on.
  Cancel limited(Clock::duration limit) const;
  // Some tens of nanoseconds: asked once in a thousand small steps.
  bool stopped() const;
  // kCancelled after stop(), kInvalid after the limit: `what` ("the template") took too long.
  Status status(std::string_view what) const;

 private:
  std::shared_ptr<std::atomic<bool>> stopped_;
  Clock::duration limit_{};
  Clock::time_point deadline_ = Clock::time_point::max();
};

}  // namespace kapitsa
