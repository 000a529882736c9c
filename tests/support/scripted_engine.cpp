#include "tests/support/scripted_engine.h"

#include <algorithm>
#include <condition_variable>
#include <thread>

#include "text/dialect/dialect.h"

namespace kapitsa::test {

using engine::Event;
using engine::FinishReason;

// A thread plays the script; the reader takes what has come, merged.
class ScriptedStream : public engine::Stream {
 public:
  ScriptedStream(ScriptedEngine& owner, const Script& script, engine::Request request)
      : owner_(owner), script_(script), request_(std::move(request)) {
    ++owner_.running_;
    thread_ = std::thread([this] { play(); });
  }

  ~ScriptedStream() override {
    cancel();
    thread_.join();
  }

  std::optional<Event> next() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ || ended_; });
    return take();
  }

  std::optional<Event> try_next() override {
    std::lock_guard lock(mutex_);
    return take();
  }

  void on_ready(std::function<void()> ready) override {
    std::lock_guard lock(mutex_);
    ready_ = std::move(ready);
  }

  void cancel() override {
    std::lock_guard lock(mutex_);
    cancel_ = true;
    changed_.notify_all();
  }

 private:
  std::optional<Event> take() {
    if (!waiting_) return std::nullopt;
    std::optional<Event> out = std::move(waiting_);
    waiting_.reset();
    return out;
  }

  // False: cancelled meanwhile.
  bool sleep(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, time, [&] { return cancel_; });
  }

  void put(Event event) {
    std::function<void()> ready;
    {
      std::lock_guard lock(mutex_);
      if (!waiting_) waiting_.emplace();
      waiting_->text += event.text;
      for (auto& token : event.tokens) waiting_->tokens.push_back(std::move(token));
      waiting_->finish = event.finish;
      waiting_->stop_string = event.stop_string;
      waiting_->usage = event.usage;
      waiting_->status = event.status;
      ended_ = ended_ || event.last();
      ready = ready_;
      changed_.notify_all();
    }
    if (ready) ready();
  }

  void play() {
    Event last = run();
    last.usage.prompt_tokens = static_cast<int>(request_.prompt.size());
    last.usage.cached_tokens = last.usage.prompt_tokens > 4 ? 4 : 0;
    last.usage.completion_tokens = sampled_;
    const bool cancelled = last.finish == FinishReason::cancelled;
    if (cancelled) ++owner_.cancelled_;
    --owner_.running_;
    owner_.watch(cancelled ? "cancel" : "end");
    put(std::move(last));
  }

  Event run() {
    Event last;
    last.finish = FinishReason::cancelled;
    if (!sleep(script_.prefill)) return last;
    const auto& words = script_.choices[static_cast<size_t>(request_.choice) %
                                        script_.choices.size()];
    for (int round = 0; script_.endless || round < script_.repeat; ++round) {
      for (const std::string& word : words) {
        if (!sleep(script_.token)) return last;
        Event event;
        event.tokens.push_back(sample(word));
        if (ends_with_stop(word, event, last)) {
          put(std::move(event));
          return last;
        }
        if (sampled_ >= request_.max_tokens) {
          event.text += held_;
          put(std::move(event));
          last.finish = FinishReason::length;
          return last;
        }
        put(std::move(event));
      }
    }
    last.text = held_;
    last.finish.reset();
    if (!script_.failure.ok()) {
      last.status = script_.failure;
      return last;
    }
    last.finish = FinishReason::stop;
    last.tokens.push_back({owner_.tokenizer_.eos.front(), 0, {}});
    ++sampled_;
    return last;
  }

  engine::SampledToken sample(const std::string& word) {
    engine::SampledToken out;
    out.id = *owner_.tokenizer_.find(word);
    ++sampled_;
    if (!request_.logprobs) return out;
    out.logprob = -0.25f;
    for (int i = 0; i < *request_.logprobs; ++i) {
      out.top.push_back({i == 0 ? out.id : 'a' + i, -0.25f - static_cast<float>(i)});
    }
    return out;
  }

  // Moves what is certain of `word` to the event; true if a stop string is complete.
  bool ends_with_stop(const std::string& word, Event& event, Event& last) {
    held_ += word;
    size_t keep = 0;
    for (const std::string& stop : request_.stop) {
      if (const size_t at = held_.find(stop); at != std::string::npos) {
        event.text = held_.substr(0, at);
        last.stop_string = stop;
        last.finish = FinishReason::stop;
        return true;
      }
      for (size_t n = std::min(stop.size(), held_.size()); n > keep; --n) {
        if (held_.compare(held_.size() - n, n, stop, 0, n) == 0) keep = n;
      }
    }
    event.text = held_.substr(0, held_.size() - keep);
    held_.erase(0, held_.size() - keep);
    return false;
  }

  ScriptedEngine& owner_;
  const Script& script_;
  const engine::Request request_;
  int sampled_ = 0;
  std::string held_;  // may become a stop string

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Event> waiting_;
  std::function<void()> ready_;
  bool ended_ = false;
  bool cancel_ = false;
  std::thread thread_;
};

ScriptedEngine::ScriptedEngine(std::vector<Script> scripts) : scripts_(std::move(scripts)) {
  model.id = "scripted";
  model.architecture = "script";
  model.context = 4096;
  model.created = 1750000000;
  model.can_think = true;
  for (const Script& script : scripts_) {
    for (const auto& words : script.choices) {
      for (const std::string& word : words) tokenizer_.add(word);
    }
  }
}

void ScriptedEngine::speak(std::string_view dialect) {
  for (const text::Dialect* one : text::dialects()) {
    if (one->name != dialect) continue;
    template_.signs.clear();
    for (const std::string_view sign : one->signs) template_.signs += sign;
  }
}

std::vector<engine::Request> ScriptedEngine::seen() const {
  std::lock_guard lock(mutex_);
  return seen_;
}

std::string ScriptedEngine::last_prompt() const {
  std::lock_guard lock(mutex_);
  return seen_.empty() ? std::string() : tokenizer_.decode(seen_.back().prompt);
}

Result<std::unique_ptr<engine::Stream>> ScriptedEngine::submit(engine::Request request) {
  if (request.prompt.empty()) return error(Code::kInvalid, "the prompt is empty");
  if (running_ >= max_streams) return error(Code::kUnavailable, "the queue is full");
  const std::string prompt = tokenizer_.decode(request.prompt);
  const auto script = std::find_if(scripts_.begin(), scripts_.end(), [&](const Script& one) {
    return prompt.find(one.match) != std::string::npos;
  });
  if (script == scripts_.end()) return error(Code::kInternal, "no script matches: {}", prompt);
  if (!script->refusal.ok()) return script->refusal;
  {
    std::lock_guard lock(mutex_);
    seen_.push_back(request);
  }
  watch("submit");
  return std::unique_ptr<engine::Stream>(
      std::make_unique<ScriptedStream>(*this, *script, std::move(request)));
}

}  // namespace kapitsa::test
