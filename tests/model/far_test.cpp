// The far end of a long context, for real: more than 128 Ki tokens. Minutes of work, so only where KAPITSA_TEST_LONG is set
// (make test-long).
#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/executor.h"
#include "engine/plan.h"

namespace kapitsa {
namespace {

// The logits behind `count` tokens, `chunk` at a time.
std::vector<float> far_logits(const char* family, int count, int chunk) {
  auto backend = *backend::make({.name = "cpu"});
  auto checkpoint = weights::Checkpoint::open(std::string(KAPITSA_SOURCE_DIR "/tests/golden/") + family);
  const auto model = *model::Model::load(std::make_shared<weights::Checkpoint>(*std::move(checkpoint)), *backend);
  const auto executor =
      *engine::Executor::make(*backend, *model, {.cache = engine::shape_for(model->graph(), backend::KvType::kF16, count, 1)});
  engine::Sequence sequence(executor->pools());
  std::vector<int32_t> tokens;
  for (int at = 0; at < count; at += chunk) {
    tokens.clear();
    for (int i = at; i < std::min(at + chunk, count); ++i) tokens.push_back((i * 31 + i / 97) % 500);
    const engine::Span span{&sequence, tokens, 1};
    const Status status = executor->run(std::span(&span, 1));
    EXPECT_TRUE(status.ok()) << status.message();
  }
  const auto row = executor->logits(0);
  return {row.begin(), row.end()};
}

TEST(Far, BitsDoNotDependOnChunkingBeyond128Ki) {
  if (std::getenv("KAPITSA_TEST_LONG") == nullptr) GTEST_SKIP() << "takes minutes; make test-long runs it";
  constexpr int kFar = (128 << 10) + 700;
  for (const char* family : {"qwen3_5", "nemotron_h"}) {
    const auto want = far_logits(family, kFar, 512);
    for (const float x : want) ASSERT_TRUE(std::isfinite(x)) << family;
    EXPECT_EQ(far_logits(family, kFar, 448), want) << family;
  }
}

}  // namespace
}  // namespace kapitsa
