// The engine with a real, tiny model: streams, queues, cancels, and the same tokens whatever runs beside.
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "engine/load.h"

namespace kapitsa::engine {
namespace {

const std::string kStories = KAPITSA_SOURCE_DIR "/tests/golden/stories260k";

std::unique_ptr<Engine> stories(LoadOptions options = {}) {
  options.path = kStories;
  options.backend.threads = 2;
  auto engine = load(options);
  EXPECT_TRUE(engine.ok()) << engine.message();
  return *std::move(engine);
}

struct Answer {
  std::string text;
  std::vector<TokenId> ids;
  Event last;
};

Answer read(Stream& stream) {
  Answer a;
  while (auto event = stream.next()) {
    a.text += event->text;
    for (const auto& t : event->tokens) a.ids.push_back(t.id);
    if (event->last()) a.last = *event;
  }
  return a;
}

Answer ask(Engine& engine, Request request) {
  auto stream = engine.submit(std::move(request));
  EXPECT_TRUE(stream.ok()) << stream.message();
  return read(**stream);
}

TEST(Scheduler, TellsTheGoldenStory) {
  LoadOptions options;
  options.backend.compute = backend::Compute::kFloat32;
  options.kv = backend::KvType::kF32;
  auto engine = stories(options);
  const auto answer = ask(*engine, {.prompt = {1}, .max_tokens = 199, .sampling = {.temperature = 0}});
  std::ifstream file(kStories + "/greedy200.txt");
  const std::string want((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(answer.text, want);
  EXPECT_EQ(answer.last.finish, FinishReason::length);
  EXPECT_EQ(answer.last.usage.completion_tokens, 199);
  EXPECT_EQ(answer.last.usage.prompt_tokens, 1);
}

TEST(Scheduler, ShowsTheSpecialTokensThatAreAskedFor) {
  auto engine = stories();
  Request request{.prompt = {1}, .max_tokens = 2, .sampling = {.temperature = 0, .logit_bias = {{1, 1000.f}}}};
  EXPECT_EQ(ask(*engine, request).text, "");
  request.shown = {1};
  const std::string one = engine->tokenizer().piece(1);
  EXPECT_EQ(ask(*engine, request).text, one + one);
}

TEST(Scheduler, SameSeedSameTextAloneOrInCompany) {
  auto engine = stories();
  const auto request = [](uint64_t seed, int choice) {
    return Request{.prompt = {1, 403, 407}, .max_tokens = 60, .sampling = {.temperature = 1, .seed = seed}, .choice = choice};
  };
  const auto alone = ask(*engine, request(42, 0));
  EXPECT_NE(ask(*engine, request(42, 1)).text, alone.text);
  EXPECT_NE(ask(*engine, request(43, 0)).text, alone.text);
  std::vector<std::unique_ptr<Stream>> streams;
  for (int i = 0; i < 24; ++i) streams.push_back(*engine->submit(request(42, i % 8)));
  for (int i = 0; i < 24; ++i) {
    const auto answer = read(*streams[static_cast<size_t>(i)]);
    if (i % 8 == 0) {
      EXPECT_EQ(answer.ids, alone.ids);
    }
  }
}

TEST(Scheduler, StopStringsEndTheText) {
  auto engine = stories();
  const Request free{.prompt = {1}, .max_tokens = 60, .sampling = {.temperature = 0}};
  const std::string whole = ask(*engine, free).text;
  Request stopped = free;
  stopped.stop = {whole.substr(20, 5)};
  const auto answer = ask(*engine, stopped);
  EXPECT_EQ(answer.text, whole.substr(0, whole.find(stopped.stop[0])));
  EXPECT_EQ(answer.last.finish, FinishReason::stop);
  EXPECT_EQ(answer.last.stop_string, stopped.stop[0]);
}

// Memory for little more than one context: answers that grow past what is left wait for each other, and come out the same.
TEST(Scheduler, AnswersThatOutgrowTheMemoryTakeTurns) {
  const auto request = [](uint64_t seed) {
    return Request{.prompt = {1, 403, 407}, .max_tokens = 450, .sampling = {.temperature = 1, .seed = seed}, .stop_at_eos = false};
  };
  std::vector<std::vector<TokenId>> alone;
  {
    auto engine = stories();
    for (uint64_t seed = 0; seed < 4; ++seed) alone.push_back(ask(*engine, request(seed)).ids);
  }
  LoadOptions options;
  options.memory = (size_t{512} << 20) + (size_t{5} << 19);
  auto engine = stories(options);
  std::vector<std::unique_ptr<Stream>> streams;
  for (uint64_t seed = 0; seed < 4; ++seed) streams.push_back(*engine->submit(request(seed)));
  for (size_t i = 0; i < 4; ++i) {
    const auto answer = read(*streams[i]);
    EXPECT_EQ(answer.ids, alone[i]);
    EXPECT_EQ(answer.last.usage.completion_tokens, 450);
    EXPECT_EQ(answer.last.usage.prompt_tokens, 3);
  }
}

TEST(Scheduler, RefusesWhatItCannotDo) {
  LoadOptions options;
  options.context = 128;
  auto engine = stories(options);
  EXPECT_EQ(engine->submit({.prompt = {}}).status().code(), Code::kInvalid);
  EXPECT_EQ(engine->submit({.prompt = {1, 512}}).status().code(), Code::kInvalid);
  EXPECT_EQ(engine->submit({.prompt = {1, -1}}).status().code(), Code::kInvalid);
  EXPECT_EQ(engine->submit({.prompt = {1}, .max_tokens = 0}).status().code(), Code::kInvalid);
  const auto full = engine->submit({.prompt = std::vector<TokenId>(128, 5)});
  EXPECT_EQ(full.status().code(), Code::kExhausted);
  EXPECT_NE(full.message().find("128"), std::string::npos);
  // One token less leaves room for one.
  const auto answer = ask(*engine, {.prompt = std::vector<TokenId>(127, 5), .stop_at_eos = false});
  EXPECT_EQ(answer.last.usage.completion_tokens, 1);
  EXPECT_EQ(answer.last.finish, FinishReason::length);
}

TEST(Scheduler, ACancelledRequestEndsAndFreesItsPlace) {
  auto engine = stories();
  auto stream = *engine->submit({.prompt = {1}, .stop_at_eos = false});
  ASSERT_TRUE(stream->next().has_value());
  stream->cancel();
  const auto rest = read(*stream);
  EXPECT_EQ(rest.last.finish, FinishReason::cancelled);
  // A reader who just leaves, while it waits and while it runs.
  std::vector<std::unique_ptr<Stream>> many;
  for (int i = 0; i < 40; ++i) many.push_back(*engine->submit({.prompt = {1}, .stop_at_eos = false}));
  many.clear();
  EXPECT_EQ(ask(*engine, {.prompt = {1}, .max_tokens = 3}).last.usage.completion_tokens, 3);
  EXPECT_EQ(engine->load().waiting, 0);
}

TEST(Scheduler, AFullQueueSaysSo) {
  auto engine = stories();
  std::vector<std::unique_ptr<Stream>> held;
  Status status;
  for (int i = 0; i < 200 && status.ok(); ++i) {
    auto stream = engine->submit({.prompt = {1}, .stop_at_eos = false});
    status = stream.status();
    if (stream.ok()) held.push_back(*std::move(stream));
  }
  EXPECT_EQ(status.code(), Code::kUnavailable);
}

TEST(Scheduler, AReaderWhoStallsHoldsUpNobody) {
  auto engine = stories();
  auto stalled = *engine->submit({.prompt = {1}, .max_tokens = 100, .sampling = {.temperature = 0}, .stop_at_eos = false});
  const auto other = ask(*engine, {.prompt = {1}, .max_tokens = 100, .sampling = {.temperature = 0}, .stop_at_eos = false});
  EXPECT_EQ(read(*stalled).text, other.text);
}

TEST(Scheduler, CallsBackWhenThereIsSomething) {
  auto engine = stories();
  auto stream = *engine->submit({.prompt = {1}, .max_tokens = 20, .stop_at_eos = false});
  std::atomic<int> calls{0};
  stream->on_ready([&] { ++calls; });
  int tokens = 0;
  for (bool done = false; !done;) {
    if (auto event = stream->try_next()) {
      tokens += static_cast<int>(event->tokens.size());
      done = event->last();
    } else {
      std::this_thread::yield();
    }
  }
  EXPECT_EQ(tokens, 20);
  EXPECT_GT(calls.load(), 0);
  EXPECT_FALSE(stream->next().has_value());
}

TEST(Scheduler, EndsWithRequestsRunning) {
  std::unique_ptr<Stream> orphan;
  {
    auto engine = stories();
    orphan = *engine->submit({.prompt = {1}, .stop_at_eos = false});
  }
  EXPECT_EQ(read(*orphan).last.status.code(), Code::kUnavailable);
  orphan->cancel();  // its engine is gone
  orphan.reset();
}

TEST(Load, SaysWhatIsWrong) {
  EXPECT_EQ(load({.path = "/no/such/model"}).status().code(), Code::kNotFound);
  LoadOptions options;
  options.path = kStories;
  options.backend.name = "quantum";
  EXPECT_EQ(load(options).status().code(), Code::kInvalid);
}

}  // namespace
}  // namespace kapitsa::engine
