#include "engine/scheduler.h"

#include <algorithm>

#include "base/log.h"

namespace kapitsa::engine {
namespace {

constexpr std::ptrdiff_t kMaxWaiting = 64;
// Tokens beyond what a sequence has that room is set aside for.
constexpr int kAhead = 256;

double seconds(Clock::time_point from, Clock::time_point to) { return std::chrono::duration<double>(to - from).count(); }

}  // namespace

Scheduler::Scheduler(Parts parts) : parts_(std::move(parts)), thread_([this] { loop(); }) {}

Scheduler::~Scheduler() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_->notify_all();
  thread_.join();
}

Result<std::unique_ptr<Stream>> Scheduler::submit(Request request) {
  const int prompt = static_cast<int>(request.prompt.size()), context = parts_.info.context;
  if (prompt == 0) return Status(Code::kInvalid, "the prompt is empty");
  for (TokenId id : request.prompt) {
    if (id < 0 || id >= parts_.model->config().vocabulary) {
      return error(Code::kInvalid, "token {} is outside the vocabulary of {}", id, parts_.model->config().vocabulary);
    }
  }
  if (prompt >= context) {
    return error(Code::kExhausted, "the prompt has {} tokens, the context holds {} for prompt and answer together", prompt, context);
  }
  if (request.max_tokens < 1) return error(Code::kInvalid, "max_tokens is {}; at least 1 is needed", request.max_tokens);
  const int limit = std::min(request.max_tokens, context - prompt);
  auto job = std::make_unique<Job>(std::move(request), *parts_.tokenizer, parts_.executor->pools());
  job->limit = limit;
  auto stream = std::make_unique<ChannelStream>(job->channel, [wake = wake_] { wake->notify_all(); });
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return Status(Code::kUnavailable, "the engine is shutting down");
    // Those whose clients have left are swept out with the engine's next step and hold nobody up.
    const auto waiting = std::count_if(waiting_.begin(), waiting_.end(), [](const auto& j) { return !j->channel->cancelled; });
    if (waiting >= kMaxWaiting) {
      return error(Code::kUnavailable, "{} requests are waiting already; try again later", waiting);
    }
    waiting_.push_back(std::move(job));
  }
  wake_->notify_all();
  return std::unique_ptr<Stream>(std::move(stream));
}

Load Scheduler::load() const {
  std::lock_guard lock(mutex_);
  return {running_count_, static_cast<int>(waiting_.size())};
}

void Scheduler::loop() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_->wait(lock, [this] { return stopping_ || !waiting_.empty() || !running_.empty(); });
      if (stopping_) break;
      admit();
    }
    try {
      drop_cancelled();
      make_room();
      const auto filling = std::find_if(running_.begin(), running_.end(), [](const auto& job) { return !job->prefilled(); });
      const bool decoding = std::any_of(running_.begin(), running_.end(), [](const auto& job) { return job->prefilled(); });
      if (filling != running_.end()) prefill(*filling, decoding);
      if (decoding) decode();
    } catch (const std::exception& e) {
      // Out of memory, most likely: it ends the requests that run, not the process.
      for (auto& job : running_) {
        if (job) abandon(*job, e.what());
        job.reset();
      }
    }
    std::erase_if(running_, [](const auto& job) { return job == nullptr; });
    std::lock_guard lock(mutex_);
    running_count_ = static_cast<int>(running_.size());
  }
  for (auto& job : running_) fail(*job, Status(Code::kUnavailable, "the engine is shutting down"));
  for (auto& job : waiting_) fail(*job, Status(Code::kUnavailable, "the engine is shutting down"));
  running_.clear();
  waiting_.clear();
}

// First come, first served: whoever cannot have all the pages it may need waits, and everyone behind it.
void Scheduler::admit() {
  while (!waiting_.empty() && running_.size() < static_cast<size_t>(parts_.max_batch)) {
    Job& job = *waiting_.front();
    if (!job.channel->cancelled) {
      if (!set_aside(job, static_cast<int>(job.request.prompt.size()))) break;
    }
    if (job.usage.completion_tokens == 0) {
      job.started = Clock::now();
      job.usage.queued_s = seconds(job.submitted, job.started);
    }
    running_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  running_count_ = static_cast<int>(running_.size());
}

// Few answers grow as long as they may: room is set aside as they grow. One sequence always has room for all of its own.
bool Scheduler::set_aside(Job& job, int length) {
  const int tokens = std::min(length + kAhead, job.usage.prompt_tokens + job.limit);
  if (!parts_.executor->pools().promise(job.promised_tokens, tokens, kPrefillAlone)) return false;
  job.promised_tokens = tokens;
  return true;
}

// Less always fits.
void Scheduler::release(Job& job) {
  (void)parts_.executor->pools().promise(std::exchange(job.promised_tokens, 0), 0, kPrefillAlone);
}

// Where one finds no room to grow, the youngest gives up its own and waits: who came first goes on.
void Scheduler::make_room() {
  for (auto at = running_.begin(); at != running_.end(); ++at) {
    Job& job = **at;
    if (!job.prefilled() || job.sequence.length < job.promised_tokens) continue;
    while (!set_aside(job, job.sequence.length)) {
      const auto youngest = std::prev(running_.end());
      const bool itself = youngest == at;
      if (itself) at = std::prev(at);  // the first one finds room in an empty cache, so this is not it
      spdlog::debug("a request of {} tokens waits for room in the cache", (*youngest)->sequence.length);
      (*youngest)->start_over();
      release(**youngest);
      {
        std::lock_guard lock(mutex_);
        waiting_.push_front(std::move(*youngest));
      }
      running_.erase(youngest);
      if (itself) break;
    }
  }
}

void Scheduler::drop_cancelled() {
  // Those that still wait go too: a queue of clients who left must not hold up one who stayed.
  std::deque<std::unique_ptr<Job>> gone;
  {
    std::lock_guard lock(mutex_);
    for (auto& job : waiting_) {
      if (job->channel->cancelled) gone.push_back(std::move(job));
    }
    std::erase(waiting_, nullptr);
  }
  for (auto& job : gone) job->channel->put({.finish = FinishReason::cancelled, .usage = job->usage});
  for (auto& job : running_) {
    if (!job->channel->cancelled) continue;
    end(*job, {.finish = FinishReason::cancelled});
    job.reset();
  }
  std::erase(running_, nullptr);
}

void Scheduler::prefill(std::unique_ptr<Job>& slot, bool others_decode) {
  Job& job = *slot;
  const int prompt = static_cast<int>(job.request.prompt.size()), done = job.sequence.length;
  const int count = std::min(prompt - done, others_decode ? kPrefillShared : kPrefillAlone);
  // One that starts over has its next token already.
  const bool last = done + count == prompt, resumed = job.usage.completion_tokens > 0;
  const Span span{&job.sequence, std::span(job.request.prompt).subspan(static_cast<size_t>(done), static_cast<size_t>(count)), last && !resumed ? 1 : 0};
  const Status status = parts_.executor->run(std::span(&span, 1), &job.channel->cancelled);
  if (status.code() == Code::kCancelled) return;  // dropped at the next turn
  if (!status.ok()) {
    fail(job, status);
    slot.reset();
    return;
  }
  if (!last || resumed) return;
  job.first_token = Clock::now();
  job.usage.prefill_s = seconds(job.started, job.first_token);
  if (advance(job, parts_.executor->logits(0))) slot.reset();
}

void Scheduler::decode() {
  auto& spans = decode_spans_;
  auto& jobs = decode_jobs_;
  spans.clear();
  jobs.clear();
  for (auto& job : running_) {
    if (!job || !job->prefilled() || job->usage.completion_tokens == 0) continue;
    spans.push_back({&job->sequence, std::span(&job->last, 1), 1});
    jobs.push_back(&job);
  }
  if (spans.empty()) return;
  const Status status = parts_.executor->run(spans);
  for (size_t i = 0; i < jobs.size(); ++i) {
    Job& job = **jobs[i];
    if (!status.ok()) fail(job, status);
    else if (!advance(job, parts_.executor->logits(static_cast<int>(i)))) continue;
    jobs[i]->reset();
  }
}

bool Scheduler::advance(Job& job, std::span<const float> logits) {
  auto sampled = job.sampler.sample(logits, job.usage.prompt_tokens + job.usage.completion_tokens);
  if (!sampled.ok()) {
    fail(job, sampled.status());
    return true;
  }
  job.last = sampled->id;
  job.generated.push_back(job.last);
  ++job.usage.completion_tokens;
  const auto& eos = parts_.tokenizer->eos;
  Event event;
  if (job.request.stop_at_eos && std::find(eos.begin(), eos.end(), job.last) != eos.end()) {
    event.finish = FinishReason::stop;
  } else {
    event.tokens.push_back(*std::move(sampled));
    const auto& shown = job.request.shown;
    if (job.request.show_special || !parts_.tokenizer->is_special(job.last) ||
        std::find(shown.begin(), shown.end(), job.last) != shown.end()) {
      event.text = job.stop.push(job.detokenizer.push(job.last));
    }
    if (!job.stop.found().empty()) {
      event.finish = FinishReason::stop;
      event.stop_string = job.stop.found();
    } else if (job.usage.completion_tokens >= job.limit) {
      event.finish = FinishReason::length;
    }
  }
  if (event.finish) {
    end(job, std::move(event));
    return true;
  }
  job.channel->put(std::move(event));
  return false;
}

void Scheduler::end(Job& job, Event event) {
  if (event.stop_string.empty()) {
    event.text += job.stop.push(job.detokenizer.finish());
    event.text += job.stop.finish();
  }
  if (job.usage.completion_tokens > 0) job.usage.decode_s = seconds(job.first_token, Clock::now());
  event.usage = job.usage;
  release(job);
  job.sequence.clear();
  job.channel->put(std::move(event));
}

void Scheduler::abandon(Job& job, const char* why) {
  try {
    fail(job, error(Code::kInternal, "the engine failed: {}", why));
  } catch (const std::exception&) {
    // Where memory is out: an event that asks for none.
    job.channel->put({.status = Status(Code::kInternal, "out of memory")});
  }
}

void Scheduler::fail(Job& job, Status status) {
  // Who reads the stream tells people.
  spdlog::debug("a request failed: {}", status.message());
  end(job, {.status = std::move(status)});
}

}  // namespace kapitsa::engine
