#include "app/turn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "app/terminal.h"
#include "text/dialect/marker_tokens.h"
#include "text/dialect/parser.h"

namespace kapitsa::app {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Wakes a poll() from another thread.
class Bell {
 public:
  Bell() {
    if (pipe(ends_) != 0) return;
    for (int end : ends_) {
      fcntl(end, F_SETFL, O_NONBLOCK);
      fcntl(end, F_SETFD, FD_CLOEXEC);
    }
  }
  ~Bell() {
    for (int end : ends_) {
      if (end >= 0) close(end);
    }
  }
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  bool ok() const { return ends_[0] >= 0; }
  void ring() const { [[maybe_unused]] const auto written = write(ends_[1], "", 1); }
  // Returns when it rang, or `interrupt` came.
  void wait(const Interrupt& interrupt) const {
    pollfd wanted[] = {{ends_[0], POLLIN, 0}, {interrupt.fd(), POLLIN, 0}};
    poll(wanted, 2, -1);
    char bytes[64];
    while (read(ends_[0], bytes, sizeof bytes) > 0) {
    }
  }

 private:
  int ends_[2] = {-1, -1};
};

}  // namespace

Result<Answer> ask(engine::Engine& engine, engine::Request request, const AnswerForm& form,
                   AnswerPrinter& printer, Interrupt& interrupt) {
  Bell bell;  // outlives the stream that rings it
  if (!bell.ok()) return error(Code::kExhausted, "no pipe can be opened: too many open files");
  const auto start = Clock::now();
  // Without tools all dialects are alike: thoughts are apart, and the rest is text.
  if (form.reasoning) request.shown = text::marker_tokens(text::plain(), false, engine.tokenizer());
  KAPITSA_ASSIGN(const auto stream, engine.submit(std::move(request)));
  stream->on_ready([&bell] { bell.ring(); });

  Answer answer;
  text::DialectParser parser(text::plain(), nullptr, form.opens_reasoning);
  bool first = true, closed = false;  // closed: stdout takes nothing more
  const auto put = [&](const std::string& text) {
    answer.text += text;
    return printer.answer(text);
  };
  const auto show = [&](const text::DialectEvents& events) {
    bool taken = true;
    for (const text::DialectEvent& event : events) {
      if (event.kind == text::DialectEvent::Kind::kText) {
        taken = put(event.text) && taken;
      } else {
        answer.reasoning += event.text;
        taken = printer.thought(event.text) && taken;
      }
    }
    return taken;
  };
  for (;;) {
    while (const auto event = stream->try_next()) {
      if (first && !event->tokens.empty()) {
        answer.first_token_s = since(start);
        first = false;
      }
      bool taken = form.reasoning ? show(parser.push(event->text)) : put(event->text);
      if (!event->status.ok()) {
        printer.finish();
        return event->status;
      }
      if (event->finish) {
        if (form.reasoning) taken = show(parser.finish()) && taken;
        closed = !printer.finish() || !taken || closed;
        answer.usage = event->usage;
        answer.finish = *event->finish;
      }
      if (event->finish)
        return closed ? Result<Answer>(output_status()) : Result<Answer>(std::move(answer));
      if (!taken && !closed) {
        closed = true;
        stream->cancel();
      }
    }
    bell.wait(interrupt);
    if (interrupt.take()) {
      answer.interrupted = true;
      stream->cancel();
    }
  }
}

namespace {

double per_second(int tokens, double seconds) {
  return tokens > 0 && seconds > 0 ? tokens / seconds : 0;
}

double prompt_speed(const engine::Usage& u) {
  return per_second(u.prompt_tokens - u.cached_tokens, u.prefill_s);
}
// The first token belongs to the prompt's time.
double answer_speed(const engine::Usage& u) {
  return per_second(u.completion_tokens - 1, u.decode_s);
}

std::string speed(double tokens_a_second) {
  if (tokens_a_second <= 0) return "";
  return fmt::format(", {:.{}f} tok/s", tokens_a_second, tokens_a_second < 100 ? 1 : 0);
}

std::string tokens(int count) {
  return fmt::format("{} token{}", count, count == 1 ? "" : "s");
}

}  // namespace

std::string statistics(const Answer& answer) {
  const engine::Usage& u = answer.usage;
  std::string text = "prompt " + tokens(u.prompt_tokens);
  if (u.cached_tokens > 0) text += fmt::format(" ({} cached)", u.cached_tokens);
  text +=
      speed(prompt_speed(u)) + "; answer " + tokens(u.completion_tokens) + speed(answer_speed(u));
  if (u.completion_tokens > 0)
    text += fmt::format("; first token after {:.2f} s", answer.first_token_s);
  if (answer.finish == engine::FinishReason::length)
    text += "; cut off: the limit of tokens was reached";
  if (answer.interrupted) text += "; stopped";
  return text;
}

Json statistics_json(const Answer& answer) {
  const engine::Usage& u = answer.usage;
  Json json;
  json["prompt_tokens"] = u.prompt_tokens;
  json["cached_tokens"] = u.cached_tokens;
  json["completion_tokens"] = u.completion_tokens;
  json["prompt_tokens_per_second"] = prompt_speed(u);
  json["completion_tokens_per_second"] = answer_speed(u);
  json["first_token_seconds"] = answer.first_token_s;
  json["prefill_seconds"] = u.prefill_s;
  json["decode_seconds"] = u.decode_s;
  return json;
}

std::string_view name(engine::FinishReason reason) {
  switch (reason) {
    case engine::FinishReason::stop:
      return "stop";
    case engine::FinishReason::length:
      return "length";
    case engine::FinishReason::cancelled:
      return "cancelled";
  }
  return "";
}

}  // namespace kapitsa::app
