// One question to the engine and its answer, printed while it comes.
#pragma once

#include <string>

#include "app/answer_printer.h"
#include "app/interrupt.h"
#include "base/json.h"
#include "engine/engine.h"

namespace kapitsa::app {

struct Answer {
  std::string text;
  std::string reasoning;
  engine::Usage usage;
  engine::FinishReason finish = engine::FinishReason::stop;
  double first_token_s = 0;  // from the question to the first token
  bool interrupted = false;  // by Ctrl-C
};

// How the answer's text is to be read.
struct AnswerForm {
  bool reasoning = true;         // <think> ... </think> is apart
  bool opens_reasoning = false;  // the prompt ended with <think>
};

// Errors: the engine's own; kCancelled where stdout was closed.
Result<Answer> ask(engine::Engine& engine, engine::Request request, const AnswerForm& form,
                   AnswerPrinter& printer, Interrupt& interrupt);

// "prompt 31 tokens, 812 tok/s; answer 9 tokens, 63.2 tok/s; first token after 0.06 s".
std::string statistics(const Answer& answer);
Json statistics_json(const Answer& answer);
std::string_view name(engine::FinishReason reason);

}  // namespace kapitsa::app
