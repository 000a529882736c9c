// Asking an engine and reading what comes, without a model.
#include "app/turn.h"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "app/answer_printer.h"
#include "app/terminal.h"
#include "tests/support/scripted_engine.h"

namespace kapitsa::app {
namespace {

using test::Script;

engine::Request request_of(test::ScriptedEngine& engine, const std::string& text) {
  engine::Request request;
  request.prompt = *engine.words().encode(text, true);
  return request;
}

Result<Answer> ask_quietly(test::ScriptedEngine& engine, const std::string& text,
                           const AnswerForm& form = {}) {
  AnswerPrinter printer(false, false, false);
  printer.mute();
  Interrupt interrupt;
  return ask(engine, request_of(engine, text), form, printer, interrupt);
}

TEST(Ask, CollectsTheAnswer) {
  test::ScriptedEngine engine({{.match = "", .choices = {{"Hel", "lo"}}}});
  const auto answer = ask_quietly(engine, "x");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->text, "Hello");
  EXPECT_EQ(answer->finish, engine::FinishReason::stop);
  EXPECT_FALSE(answer->interrupted);
}

TEST(Ask, KeepsThoughtsApart) {
  test::ScriptedEngine engine({{.match = "tags", .choices = {{"<thi", "nk>hm</think>", "\n\n42"}}},
                               {.match = "open", .choices = {{"hm</think>", "42"}}}});
  for (const auto& [text, opens] : {std::pair("tags", false), std::pair("open", true)}) {
    const auto answer = ask_quietly(engine, text, {.opens_reasoning = opens});
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(answer->reasoning, "hm");
    EXPECT_EQ(answer->text, "42");
  }
  EXPECT_EQ(ask_quietly(engine, "tags", {.reasoning = false})->text, "<think>hm</think>\n\n42");
}

TEST(Ask, InterruptEndsTheAnswerAndKeepsIt) {
  install_signals();
  test::ScriptedEngine engine({{.match = "",
                                .choices = {{"word "}},
                                .token = std::chrono::milliseconds(2),
                                .endless = true}});
  std::thread sender([&] {
    while (engine.running() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    raise(SIGINT);
  });
  const auto answer = ask_quietly(engine, "x");
  sender.join();
  ASSERT_TRUE(answer.ok()) << answer.message();
  EXPECT_TRUE(answer->interrupted);
  EXPECT_EQ(answer->finish, engine::FinishReason::cancelled);
  EXPECT_EQ(answer->text.substr(0, 5), "word ");
}

TEST(Ask, FailuresCome) {
  test::ScriptedEngine engine(
      {{.match = "late", .choices = {{"so far"}}, .failure = Status(Code::kInternal, "broken")},
       {.match = "", .refusal = Status(Code::kExhausted, "no room")}});
  EXPECT_EQ(ask_quietly(engine, "late").message(), "broken");
  EXPECT_EQ(ask_quietly(engine, "x").message(), "no room");
}

std::string printed(bool colours, bool thoughts) {
  ::testing::internal::CaptureStdout();
  AnswerPrinter printer(true, colours, thoughts);
  printer.thought("h");
  printer.thought("m");
  printer.answer("4");
  printer.answer("2");
  printer.finish();
  return ::testing::internal::GetCapturedStdout();
}

TEST(AnswerPrinter, ThoughtsAreDimOrLeftOut) {
  EXPECT_EQ(printed(true, true), "\x1b[2mhm\x1b[0m\n\n42\n");
  EXPECT_EQ(printed(false, true), "hm\n\n42\n");
  EXPECT_EQ(printed(false, false), "42\n");
}

TEST(Statistics, SayWhatThereIsToSay) {
  Answer answer;
  answer.usage = {.prompt_tokens = 10, .completion_tokens = 21, .prefill_s = 0.1, .decode_s = 0.5};
  answer.first_token_s = 0.1;
  EXPECT_EQ(statistics(answer),
            "prompt 10 tokens, 100 tok/s; answer 21 tokens, 40.0 tok/s; first token after 0.10 s");
  EXPECT_EQ(statistics(Answer{}), "prompt 0 tokens; answer 0 tokens");
}

}  // namespace
}  // namespace kapitsa::app
