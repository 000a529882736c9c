#include "base/cancel.h"

#include <atomic>

namespace kapitsa {

struct Cancel::State {
  explicit State(Clock::duration limit_in) : limit(limit_in), deadline(Clock::now() + limit_in) {}

  const Clock::duration limit;
  const Clock::time_point deadline;
  std::atomic<bool> stopped{false};
};

Cancel Cancel::within(Clock::duration limit) {
  Cancel out;
  out.state_ = std::make_shared<State>(limit);
  return out;
}

void Cancel::stop() const {
  if (state_) state_->stopped.store(true, std::memory_order_relaxed);
}

bool Cancel::stopped() const {
  return state_ && (state_->stopped.load(std::memory_order_relaxed) || Clock::now() > state_->deadline);
}

Status Cancel::status() const {
  if (!stopped()) return {};
  if (state_->stopped.load(std::memory_order_relaxed)) return Status(Code::kCancelled, "cancelled");
  return error(Code::kInvalid, "this takes longer than the {:.3g} s that it may: send less text at a time",
               std::chrono::duration<double>(state_->limit).count());
}

}  // namespace kapitsa
