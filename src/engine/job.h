// One request on its way through the engine, and the reader's end of it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "engine/engine.h"
#include "engine/kv/sequence.h"
#include "engine/sampler.h"
#include "engine/stop_matcher.h"

namespace kapitsa::engine {

// What engine and reader share. Events that were not read yet are joined: a reader who stalls never stalls the engine.
class Channel {
 public:
  void put(Event event);            // engine's side
  std::optional<Event> take(bool wait);
  void on_ready(std::function<void()> ready);
  // The reader is gone: no callback after this returns.
  void leave();

  std::atomic<bool> cancelled{false};

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Event> pending_;
  std::function<void()> ready_;
  bool taken_last_ = false;
};

class ChannelStream : public Stream {
 public:
  // `wake` tells the engine that a cancel was asked for.
  ChannelStream(std::shared_ptr<Channel> channel, std::function<void()> wake) : channel_(std::move(channel)), wake_(std::move(wake)) {}
  ~ChannelStream() override {
    channel_->leave();
    cancel();
  }
  std::optional<Event> next() override { return channel_->take(true); }
  std::optional<Event> try_next() override { return channel_->take(false); }
  void on_ready(std::function<void()> ready) override { channel_->on_ready(std::move(ready)); }
  void cancel() override {
    channel_->cancelled.store(true);
    wake_();
  }

 private:
  std::shared_ptr<Channel> channel_;
  std::function<void()> wake_;
};

using Clock = std::chrono::steady_clock;

// The engine's side of a request: its sequence, its sampler, the text so far.
struct Job {
  Job(Request r, const text::Tokenizer& tokenizer, Pools& pools);

  Request request;
  std::shared_ptr<Channel> channel = std::make_shared<Channel>();
  Sequence sequence;
  Sampler sampler;
  text::Detokenizer detokenizer;
  StopMatcher stop;
  int limit = 0;           // tokens that it may generate
  int promised_tokens = 0;  // what its sequence may grow to; 0: nothing is set aside for it
  std::vector<TokenId> generated;
  TokenId last = 0;        // the newest token, not in the cache yet
  Usage usage;
  Clock::time_point submitted = Clock::now(), started, first_token;

  // Gives up its place in the cache: what it had there is computed again when its turn comes, with the same bits. The
  // prompt is then all that was in the cache; the newest token never was.
  void start_over() {
    sequence.clear();
    request.prompt.resize(static_cast<size_t>(usage.prompt_tokens));
    if (!generated.empty()) request.prompt.insert(request.prompt.end(), generated.begin(), generated.end() - 1);
  }
  bool prefilled() const { return sequence.length >= static_cast<int>(request.prompt.size()); }
};

}  // namespace kapitsa::engine
