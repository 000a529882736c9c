// The engine: one thread that owns the model, takes requests from a queue, runs prefill in chunks beside the decodes of up
// to sixteen requests, samples, and sends events.
#pragma once

#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <thread>

#include "engine/engine.h"
#include "engine/executor.h"
#include "engine/job.h"

namespace kapitsa::engine {

// All that a running engine owns; each uses what stands above it, so they end from the last to the first.
struct Parts {
  ModelInfo info;
  std::unique_ptr<text::Tokenizer> tokenizer;
  std::unique_ptr<text::ChatTemplate> chat_template;
  std::unique_ptr<backend::Backend> backend;
  std::unique_ptr<model::Model> model;
  std::unique_ptr<Executor> executor;
  int max_batch = backend::kMaxDecodeRows;
};

class Scheduler : public Engine {
 public:
  // Prompt tokens of one step: many for speed, fewer while others wait for their next token.
  static constexpr int kPrefillAlone = 512, kPrefillShared = 128;

  explicit Scheduler(Parts parts);
  ~Scheduler() override;

  const ModelInfo& info() const override { return parts_.info; }
  const text::Tokenizer& tokenizer() const override { return *parts_.tokenizer; }
  const text::ChatTemplate* chat_template() const override { return parts_.chat_template.get(); }
  Result<std::unique_ptr<Stream>> submit(Request request) override;
  Load load() const override;

 private:
  using Jobs = std::list<std::unique_ptr<Job>>;

  void loop();
  void admit();
  void drop_cancelled();
  void prefill(std::unique_ptr<Job>& slot, bool others_decode);
  void decode();
  // Takes the token that `logits` gives for `job`, sends its text; true where it was the last.
  bool advance(Job& job, std::span<const float> logits);
  void end(Job& job, Event event);
  void fail(Job& job, Status status);
  void abandon(Job& job, const char* why);
  bool set_aside(Job& job, int length);
  void release(Job& job);
  void make_room();

  Parts parts_;
  mutable std::mutex mutex_;
  // Shared with the streams, which wake the engine and may outlive it.
  std::shared_ptr<std::condition_variable> wake_ = std::make_shared<std::condition_variable>();
  std::deque<std::unique_ptr<Job>> waiting_;
  Jobs running_;  // touched by the engine's thread only
  std::vector<Span> decode_spans_;  // kept between steps so that their memory is
  std::vector<std::unique_ptr<Job>*> decode_jobs_;
  int running_count_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace kapitsa::engine
