// What was said so far, and the prompt that it makes.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "app/globals.h"
#include "base/json.h"
#include "engine/engine.h"
#include "text/prompt.h"

namespace kapitsa::app {

// A chat template that takes longer is broken or hostile.
inline constexpr auto kPreparation = std::chrono::seconds(60);

class Conversation {
 public:
  // `raw`: no template; the prompt is all the text so far.
  explicit Conversation(bool raw) : raw_(raw) {}

  std::string system;  // empty: none
  std::optional<bool>
      think;  // the template's thinking switch; not given: the template's own default

  void user(std::string text);
  void assistant(std::string text, std::string reasoning);
  // Takes the last message back: it was not answered.
  void drop_last();
  void clear() { turns_.clear(); }
  bool empty() const { return turns_.empty(); }

  // Errors: kUnsupported where the model has no template and this is not raw; the template's;
  // invalid UTF-8.
  Result<text::Prompt> prompt(const engine::Engine& engine) const;

  // [{"role": "user", "content": "..."}, ...], the system text first.
  Json messages() const;
  // For people: "system: ...", blank lines between.
  std::string transcript() const;

 private:
  struct Turn {
    std::string role, text, reasoning;
  };
  bool raw_;
  std::vector<Turn> turns_;
};

// Says on stderr that --think or --no-think changes nothing, where the model's template has no such
// switch.
void note_idle_switch(std::optional<bool> think, const engine::Engine& engine,
                      const Globals& globals);

}  // namespace kapitsa::app
