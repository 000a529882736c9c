// Every family against the logits, hidden states and greedy tokens that Hugging Face transformers computed in float32
// (tests/golden/*), and against itself: whole, in chunks, token by token, bit for bit.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <thread>

#include "engine/executor.h"
#include "engine/plan.h"
#include "weights/safetensors.h"

namespace kapitsa {
namespace {

using backend::Compute;
using backend::KvType;

// Room for each sequence of these tests.
constexpr int kTokens = 800;

std::string golden(const std::string& family) { return KAPITSA_SOURCE_DIR "/tests/golden/" + family; }

template <class T>
std::vector<T> tensor(const weights::SafetensorsFile& file, const std::string& name) {
  const weights::StoredTensor* t = file.find(name);
  EXPECT_NE(t, nullptr) << name;
  std::vector<T> out(t->bytes.size() / sizeof(T));
  std::memcpy(out.data(), t->bytes.data(), t->bytes.size());
  return out;
}

struct Engine {
  std::unique_ptr<backend::Backend> backend;
  std::unique_ptr<model::Model> model;
  std::unique_ptr<engine::Executor> executor;

  explicit Engine(const std::string& folder, KvType kv = KvType::kF32, Compute compute = Compute::kFloat32, int threads = 2) {
    auto made = backend::make({.name = "cpu", .threads = threads, .compute = compute});
    backend = *std::move(made);
    auto checkpoint = weights::Checkpoint::open(folder);
    EXPECT_TRUE(checkpoint.ok()) << checkpoint.message();
    auto loaded = model::Model::load(std::make_shared<weights::Checkpoint>(*std::move(checkpoint)), *backend);
    EXPECT_TRUE(loaded.ok()) << loaded.message();
    model = *std::move(loaded);
    auto ex = engine::Executor::make(*backend, *model, {.cache = engine::shape_for(model->graph(), kv, kTokens, 5), .max_outputs = 512, .taps = true});
    EXPECT_TRUE(ex.ok());
    executor = *std::move(ex);
  }

  // The logits of every token, computed `chunk` tokens at a time (0: all at once).
  std::vector<float> logits(std::span<const int32_t> tokens, int chunk) {
    engine::Sequence sequence(executor->pools());
    std::vector<float> out;
    const auto size = chunk == 0 ? tokens.size() : static_cast<size_t>(chunk);
    for (size_t at = 0; at < tokens.size(); at += size) {
      const auto part = tokens.subspan(at, std::min(size, tokens.size() - at));
      const engine::Span span{&sequence, part, static_cast<int>(part.size())};
      const Status status = executor->run(std::span(&span, 1));
      EXPECT_TRUE(status.ok()) << status.message();
      for (size_t i = 0; i < part.size(); ++i) {
        const auto row = executor->logits(static_cast<int>(i));
        out.insert(out.end(), row.begin(), row.end());
      }
    }
    return out;
  }

  std::vector<int32_t> greedy(std::span<const int32_t> prompt, size_t count) {
    engine::Sequence sequence(executor->pools());
    std::vector<int32_t> next(prompt.begin(), prompt.end()), out;
    while (out.size() < count) {
      const engine::Span span{&sequence, next, 1};
      EXPECT_TRUE(executor->run(std::span(&span, 1)).ok());
      const auto row = executor->logits(0);
      out.push_back(static_cast<int32_t>(std::max_element(row.begin(), row.end()) - row.begin()));
      next = {out.back()};
    }
    return out;
  }
};

class Reference : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto reference = weights::SafetensorsFile::open(golden(GetParam()) + "/reference.safetensors");
    ASSERT_TRUE(reference.ok()) << reference.message();
    reference_ = *std::move(reference);
  }
  weights::SafetensorsFile reference_;
};

double largest_difference(std::span<const float> a, std::span<const float> b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::fabs(double{a[i]} - b[i]));
  return largest;
}

TEST_P(Reference, LogitsAgreeToFloatRounding) {
  const auto tokens = tensor<int32_t>(reference_, "tokens");
  const auto want = tensor<float>(reference_, "logits");
  const auto got = Engine(golden(GetParam())).logits(tokens, 0);
  ASSERT_EQ(got.size(), want.size());
  const double difference = largest_difference(got, want);
  RecordProperty("largest_difference", std::to_string(difference));
  EXPECT_LE(difference, 2e-3);
}

TEST_P(Reference, HiddenStatesAgree) {
  const auto tokens = tensor<int32_t>(reference_, "tokens");
  Engine engine(golden(GetParam()));
  engine.logits(tokens, 0);
  const size_t layers = engine.model->graph().taps().size();
  ASSERT_EQ(layers, static_cast<size_t>(engine.model->config().layers) + 1);
  for (size_t i = 0; i < layers; ++i) {
    const auto want = tensor<float>(reference_, "hidden." + std::to_string(i));
    for (int r = 0; r < 16; ++r) {
      const auto row = engine.executor->tap(static_cast<int>(i), static_cast<int>(tokens.size()) - 16 + r);
      const auto expected = std::span(want).subspan(static_cast<size_t>(r) * row.size(), row.size());
      ASSERT_LE(largest_difference(row, expected), 2e-3) << "layer " << i << " row " << r;
    }
  }
}

TEST_P(Reference, GreedyTokensAgreeWhereTheTopTwoDiffer) {
  const auto tokens = tensor<int32_t>(reference_, "tokens");
  const auto want = tensor<int32_t>(reference_, "greedy");
  Engine engine(golden(GetParam()));
  // The reference's continuation forced, so that one near tie does not decide the rest.
  std::vector<int32_t> all(tokens.begin(), tokens.end());
  all.insert(all.end(), want.begin(), want.end() - 1);
  const auto logits = engine.logits(all, 0);
  const size_t vocabulary = logits.size() / all.size();
  for (size_t i = 0; i < want.size(); ++i) {
    const auto row = std::span(logits).subspan((tokens.size() - 1 + i) * vocabulary, vocabulary);
    std::vector<float> sorted(row.begin(), row.end());
    std::partial_sort(sorted.begin(), sorted.begin() + 2, sorted.end(), std::greater<>());
    if (sorted[0] - sorted[1] > 4e-3f) {
      EXPECT_EQ(row[static_cast<size_t>(want[i])], sorted[0]) << "token " << i;
    }
  }
}

TEST_P(Reference, BitsDoNotDependOnChunking) {
  const auto tokens = tensor<int32_t>(reference_, "tokens");
  for (KvType kv : {KvType::kF16, KvType::kF32}) {
    for (Compute compute : {Compute::kDefault, Compute::kFloat32}) {
      Engine engine(golden(GetParam()), kv, compute);
      const auto whole = engine.logits(tokens, 0);
      for (int chunk : {1, 7, 64}) {
        const auto cut = engine.logits(tokens, chunk);
        ASSERT_EQ(std::memcmp(whole.data(), cut.data(), whole.size() * 4), 0) << "chunks of " << chunk;
      }
    }
  }
}

TEST_P(Reference, BitsDoNotDependOnThreads) {
  const auto tokens = tensor<int32_t>(reference_, "tokens");
  const auto one = Engine(golden(GetParam()), KvType::kF16, Compute::kDefault, 1).logits(tokens, 0);
  for (int threads : {2, 3, 5}) {
    const auto more = Engine(golden(GetParam()), KvType::kF16, Compute::kDefault, threads).logits(tokens, 0);
    ASSERT_EQ(std::memcmp(one.data(), more.data(), one.size() * 4), 0) << threads << " threads";
  }
}

TEST_P(Reference, BitsDoNotDependOnNeighbours) {
  const auto tokens = tensor<int32_t>(reference_, "tokens");
  Engine engine(golden(GetParam()), KvType::kF16, Compute::kDefault);
  const auto alone = engine.logits(tokens, 0);
  const size_t vocabulary = alone.size() / tokens.size();
  // Three sequences of other lengths decode in the same steps, one token each a step.
  std::vector<engine::Sequence> sequences;
  for (int s = 0; s < 3; ++s) sequences.emplace_back(engine.executor->pools());
  const size_t lead[] = {0, 5, 70};
  for (int s = 1; s < 3; ++s) {
    const engine::Span span{&sequences[static_cast<size_t>(s)], std::span(tokens).first(lead[s]), 0};
    ASSERT_TRUE(engine.executor->run(std::span(&span, 1)).ok());
  }
  for (size_t i = 0; i + 70 < tokens.size(); ++i) {
    std::vector<engine::Span> spans;
    for (size_t s = 0; s < 3; ++s) spans.push_back({&sequences[s], std::span(tokens).subspan(lead[s] + i, 1), 1});
    ASSERT_TRUE(engine.executor->run(spans).ok());
    for (size_t s = 0; s < 3; ++s) {
      ASSERT_EQ(std::memcmp(engine.executor->logits(static_cast<int>(s)).data(), &alone[(lead[s] + i) * vocabulary], vocabulary * 4), 0)
          << "sequence " << s << " token " << i;
    }
  }
}

// What a sequence holds can be saved at any position, and gone on from more than once.
TEST_P(Reference, AForkGoesOnWithTheSameBits) {
  const auto tokens = tensor<int32_t>(reference_, "tokens");
  Engine engine(golden(GetParam()), KvType::kF16, Compute::kDefault);
  const auto whole = engine.logits(tokens, 0);
  const size_t vocabulary = whole.size() / tokens.size();
  for (const size_t cut : {size_t{1}, size_t{17}, size_t{63}, size_t{64}, size_t{65}, tokens.size() - 5}) {
    engine::Sequence sequence(engine.executor->pools()), saved(engine.executor->pools());
    const engine::Span first{&sequence, std::span(tokens).first(cut), 0};
    ASSERT_TRUE(engine.executor->run(std::span(&first, 1)).ok());
    ASSERT_TRUE(engine.executor->fork(sequence, saved).ok());
    // Another text goes on in the first one; then the saved one, twice.
    const std::vector<int32_t> other(20, 3);
    const engine::Span elsewhere{&sequence, other, 0};
    ASSERT_TRUE(engine.executor->run(std::span(&elsewhere, 1)).ok());
    for (int round = 0; round < 2; ++round) {
      engine::Sequence again(engine.executor->pools());
      ASSERT_TRUE(engine.executor->fork(saved, again).ok());
      const size_t count = std::min<size_t>(tokens.size() - cut, 5);
      const engine::Span span{&again, std::span(tokens).subspan(cut, count), static_cast<int>(count)};
      ASSERT_TRUE(engine.executor->run(std::span(&span, 1)).ok());
      for (size_t i = 0; i < count; ++i) {
        ASSERT_EQ(std::memcmp(engine.executor->logits(static_cast<int>(i)).data(), &whole[(cut + i) * vocabulary], vocabulary * 4), 0)
            << "token " << cut + i;
      }
    }
  }
  for (int g = 0; g < engine.executor->pools().groups(); ++g) {
    EXPECT_EQ(engine.executor->pools().pages(g).free(), engine.executor->pools().pages(g).total());
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Reference,
                         ::testing::Values("llama", "qwen2", "qwen3", "qwen3_moe", "qwen3_5", "qwen3_5_moe", "nemotron_h", "flint"),
                         [](const auto& info) { return std::string(info.param); });

// Past the positions at which attention begins a new part (1024), in chunks of any size.
TEST(Long, BitsDoNotDependOnChunkingFarOut) {
  std::vector<int32_t> tokens;
  for (int i = 0; i < 2200; ++i) tokens.push_back((i * 31 + 7) % 500);
  for (const char* family : {"llama", "flint"}) {
    const auto last = [&](int chunk) {
      auto backend = *backend::make({.name = "cpu", .threads = 2});
      auto checkpoint = weights::Checkpoint::open(golden(family));
      const auto model = *model::Model::load(std::make_shared<weights::Checkpoint>(*std::move(checkpoint)), *backend);
      const auto executor = *engine::Executor::make(*backend, *model, {.cache = engine::shape_for(model->graph(), KvType::kF16, 2200, 1)});
      engine::Sequence sequence(executor->pools());
      for (size_t at = 0; at < tokens.size(); at += static_cast<size_t>(chunk)) {
        const size_t count = std::min(static_cast<size_t>(chunk), tokens.size() - at);
        const engine::Span span{&sequence, std::span(tokens).subspan(at, count), 1};
        EXPECT_TRUE(executor->run(std::span(&span, 1)).ok());
      }
      const auto row = executor->logits(0);
      return std::vector<float>(row.begin(), row.end());
    };
    const auto want = last(512);
    for (const int chunk : {7, 100}) EXPECT_EQ(last(chunk), want) << family << " in chunks of " << chunk;
  }
}

// Pages behind a window go back to the pool: a long text then needs no more of them than a short one.
TEST(Windows, PagesBehindAreGivenBack) {
  Engine engine(golden("flint"), KvType::kF16, Compute::kDefault);
  auto& pools = engine.executor->pools();
  ASSERT_EQ(pools.groups(), 2);
  const int windowed = pools.window(0) > 0 ? 0 : 1;
  ASSERT_EQ(pools.window(windowed), 17);
  engine::Sequence sequence(pools);
  for (int i = 0; i < 700; ++i) {
    const int32_t token = i % 500;
    const engine::Span span{&sequence, std::span(&token, 1), 0};
    ASSERT_TRUE(engine.executor->run(std::span(&span, 1)).ok());
    EXPECT_LE(pools.pages(windowed).total() - pools.pages(windowed).free(), engine::most_pages(700, 17, 1));
  }
  EXPECT_EQ(pools.pages(1 - windowed).total() - pools.pages(1 - windowed).free(), 11);
}

// The same over quantised weights, whose rows are quantised alone or together, and whose panels are read as they lie or
// expanded: a real model in Q4_1 with an embedding in Q8_0.
TEST(Quantised, BitsDoNotDependOnChunkingThreadsOrNeighbours) {
  const std::string file = KAPITSA_SOURCE_DIR "/fixtures/smollm2.gguf";
  std::vector<int32_t> tokens;
  for (int i = 0; i < 150; ++i) tokens.push_back((i * 7919 + 13) % 49000);
  const auto fresh = [&](int threads) { return Engine(file, KvType::kF16, Compute::kDefault, threads); };
  Engine engine = fresh(2);
  const auto whole = engine.logits(tokens, 0);
  for (int chunk : {1, 7, 64}) {
    const auto cut = engine.logits(tokens, chunk);
    ASSERT_EQ(std::memcmp(whole.data(), cut.data(), whole.size() * 4), 0) << "chunks of " << chunk;
  }
  for (int threads : {1, 3}) {
    const auto other = fresh(threads).logits(tokens, 0);
    ASSERT_EQ(std::memcmp(whole.data(), other.data(), whole.size() * 4), 0) << threads << " threads";
  }
  const size_t vocabulary = whole.size() / tokens.size();
  std::vector<engine::Sequence> sequences;
  for (int s = 0; s < 5; ++s) sequences.emplace_back(engine.executor->pools());
  for (size_t i = 0; i < 20; ++i) {
    std::vector<engine::Span> spans;
    for (auto& s : sequences) spans.push_back({&s, std::span(tokens).subspan(i, 1), 1});
    ASSERT_TRUE(engine.executor->run(spans).ok());
    for (int s = 0; s < 5; ++s) {
      ASSERT_EQ(std::memcmp(engine.executor->logits(s).data(), &whole[i * vocabulary], vocabulary * 4), 0) << "token " << i;
    }
  }
}

// A cancel may come at any moment; every thread must leave after the same op.
TEST(Cancel, PrefillsStopAndTheNextOneIsRight) {
  Engine engine(golden("qwen3"), KvType::kF16, Compute::kDefault, 4);
  std::vector<int32_t> tokens;
  for (int i = 0; i < 400; ++i) tokens.push_back(i % 500);
  const auto want = engine.logits(tokens, 0);
  int stopped = 0;
  for (int round = 0; round < 150; ++round) {
    engine::Sequence sequence(engine.executor->pools());
    std::atomic<bool> cancelled{false};
    std::thread other([&] {
      for (int spin = 0; spin < round * 300; ++spin) std::atomic_signal_fence(std::memory_order_seq_cst);
      cancelled = true;
    });
    const engine::Span span{&sequence, tokens, 1};
    const Status status = engine.executor->run(std::span(&span, 1), &cancelled);
    other.join();
    if (status.ok()) continue;
    EXPECT_EQ(status.code(), Code::kCancelled);
    EXPECT_EQ(sequence.length, 0);
    ++stopped;
  }
  EXPECT_GT(stopped, 0);
  const auto got = engine.logits(tokens, 0);
  EXPECT_EQ(std::memcmp(want.data(), got.data(), want.size() * 4), 0);
}

TEST(Stories, GreedyContinuationIsTheGoldenOne) {
  auto text = read_file(golden("stories260k/greedy200_ids.json"));
  const auto want = parse_json(*text, "greedy200_ids.json")->get<std::vector<int32_t>>();
  Engine engine(golden("stories260k"), KvType::kF32, Compute::kFloat32);
  const std::vector<int32_t> bos{1};
  EXPECT_EQ(engine.greedy(bos, want.size()), want);
}

}  // namespace
}  // namespace kapitsa
