// An engine without a model: it says what a script says, when it says it. For tests of all that stands
// above the engine.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "tests/support/scripted_text.h"

namespace kapitsa::test {

// What is answered to prompts that contain `match`.
struct Script {
  std::string match;
  std::vector<std::vector<std::string>> choices = {{}};  // token texts; choice i takes i modulo size
  std::chrono::milliseconds prefill{0};
  std::chrono::milliseconds token{0};
  int repeat = 1;             // the token texts, so many times over
  Status refusal;             // submit() fails with it
  Status failure;             // the stream fails with it after its tokens
  bool endless = false;       // starts over until it is cancelled or max_tokens are out
};

class ScriptedEngine : public engine::Engine {
 public:
  explicit ScriptedEngine(std::vector<Script> scripts);

  // Set before use.
  engine::ModelInfo model;
  bool has_template = true;
  // Makes the template one of models that speak the dialect of that name.
  void speak(std::string_view dialect);
  int max_streams = 1000;  // further ones: kUnavailable
  // Told "submit", "cancel" and "end" as they happen, from the threads where they do.
  std::function<void(const std::string&)> watch = [](const std::string&) {};

  ScriptedTokenizer& words() { return tokenizer_; }
  std::vector<engine::Request> seen() const;
  std::string last_prompt() const;
  int cancelled() const { return cancelled_; }
  int running() const { return running_; }

  const engine::ModelInfo& info() const override { return model; }
  const text::Tokenizer& tokenizer() const override { return tokenizer_; }
  const text::ChatTemplate* chat_template() const override {
    return has_template ? &template_ : nullptr;
  }
  Result<std::unique_ptr<engine::Stream>> submit(engine::Request request) override;
  engine::Load load() const override { return {running_, 0}; }

 private:
  friend class ScriptedStream;

  std::vector<Script> scripts_;
  ScriptedTokenizer tokenizer_;
  ScriptedTemplate template_;
  mutable std::mutex mutex_;
  std::vector<engine::Request> seen_;
  std::atomic<int> cancelled_ = 0;
  std::atomic<int> running_ = 0;
};

}  // namespace kapitsa::test
