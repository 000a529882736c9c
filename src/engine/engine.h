// The engine as the rest of the program sees it: a model that answers requests. Behind it stands the
// real engine, or a scripted one in the tests of what stands above.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/request.h"
#include "text/template/chat_template.h"
#include "text/token/tokenizer.h"

namespace kapitsa::engine {

// The reader's end of one request. Any thread may use it, one at a time.
class Stream {
 public:
  // Dropping a stream cancels its request.
  virtual ~Stream() = default;

  // The next event; waits for it. After the last event: nullopt.
  virtual std::optional<Event> next() = 0;
  // The next event if one is there. Events that wait together arrive as one: a reader who stalls costs
  // no more memory than the text it has not read.
  virtual std::optional<Event> try_next() = 0;
  // `ready` is called from the engine's thread whenever try_next() has something new; it must not block.
  virtual void on_ready(std::function<void()> ready) = 0;
  // Ends the work at once; the last event says FinishReason::cancelled.
  virtual void cancel() = 0;
};

struct ModelInfo {
  std::string id;              // what a client calls it: the alias or file name it was loaded by
  std::string architecture;    // "llama", "qwen3"
  int context = 0;             // tokens that a request may hold, prompt and answer together
  int64_t created = 0;         // Unix seconds, of the load
  Sampling sampling;           // what the model's files (or the catalogue) recommend; the default of requests
  bool can_think = false;      // its template knows a thinking switch
};

struct Load {
  int running = 0;
  int waiting = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual const ModelInfo& info() const = 0;
  virtual const text::Tokenizer& tokenizer() const = 0;
  virtual const text::ChatTemplate* chat_template() const = 0;  // null where the model has none

  // Queues a request. Errors: kInvalid (an empty prompt, an id outside the vocabulary), kExhausted (the
  // prompt leaves no room in the context: both numbers), kUnavailable (the queue is full, or draining).
  virtual Result<std::unique_ptr<Stream>> submit(Request request) = 0;
  virtual Load load() const = 0;
};

}  // namespace kapitsa::engine
