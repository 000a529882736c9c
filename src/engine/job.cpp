#include "engine/job.h"

namespace kapitsa::engine {

void Channel::put(Event event) {
  std::lock_guard lock(mutex_);
  if (!pending_) {
    pending_ = std::move(event);
  } else {
    pending_->text += event.text;
    std::move(event.tokens.begin(), event.tokens.end(), std::back_inserter(pending_->tokens));
    pending_->finish = event.finish;
    pending_->stop_string = std::move(event.stop_string);
    pending_->usage = event.usage;
    pending_->status = std::move(event.status);
  }
  changed_.notify_all();
  // Under the lock, so that leave() can promise that no callback runs after it.
  if (ready_) ready_();
}

std::optional<Event> Channel::take(bool wait) {
  std::unique_lock lock(mutex_);
  if (taken_last_) return std::nullopt;
  if (wait) changed_.wait(lock, [this] { return pending_.has_value(); });
  std::optional<Event> event = std::exchange(pending_, std::nullopt);
  taken_last_ = event && event->last();
  return event;
}

void Channel::on_ready(std::function<void()> ready) {
  std::lock_guard lock(mutex_);
  ready_ = std::move(ready);
  if (ready_ && pending_) ready_();
}

void Channel::leave() {
  std::lock_guard lock(mutex_);
  ready_ = nullptr;
}

Job::Job(Request r, const text::Tokenizer& tokenizer, Pools& pools)
    : request(std::move(r)),
      sequence(pools),
      sampler(request.sampling, request.choice, request.logprobs, request.prompt),
      detokenizer(tokenizer, request.prompt.size() <= 1),
      stop(request.stop) {
  usage.prompt_tokens = static_cast<int>(request.prompt.size());
}

}  // namespace kapitsa::engine
