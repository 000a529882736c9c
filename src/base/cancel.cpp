#include "base/cancel.h"

namespace kapitsa {

Cancel Cancel::within(Clock::duration limit) {
  Cancel out;
  out.stopped_ = std::make_shared<std::atomic<bool>>(false);
  return out.limited(limit);
}

Cancel Cancel::limited(Clock::duration limit) const {
  Cancel out = *this;
  out.limit_ = limit;
  out.deadline_ = Clock::now() + limit;
  return out;
}

void Cancel::stop() const {
  if (stopped_) stopped_->store(true, std::memory_order_relaxed);
}

bool Cancel::stopped() const {
  if (stopped_ && stopped_->load(std::memory_order_relaxed)) return true;
  return deadline_ != Clock::time_point::max() && Clock::now() > deadline_;
}

Status Cancel::status(std::string_view what) const {
  if (!stopped()) return {};
  if (stopped_ && stopped_->load(std::memory_order_relaxed)) return Status(Code::kCancelled, "cancelled");
  return error(Code::kInvalid, "{} took longer than the {:.3g} s that it may", what,
               std::chrono::duration<double>(limit_).count());
}

}  // namespace kapitsa
