// Rows of a token tree against plain decoding of each path: the same bits (docs/decisions/0002-ops.md).
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "engine/executor.h"
#include "engine/plan.h"

namespace kapitsa {
namespace {

class Tree : public ::testing::TestWithParam<int> {};

TEST_P(Tree, EachNodeHasTheBitsOfPlainDecoding) {
  const int committed = GetParam();
  auto backend = *backend::make({.name = "cpu", .threads = 2});
  auto checkpoint = weights::Checkpoint::open(KAPITSA_SOURCE_DIR "/tests/golden/qwen3");
  auto model = *model::Model::load(std::make_shared<weights::Checkpoint>(*std::move(checkpoint)), *backend);
  for (backend::KvType kv : {backend::KvType::kF16, backend::KvType::kF32}) {
    auto executor = *engine::Executor::make(*backend, *model, {.cache = engine::shape_for(model->graph(), kv, 512, 2)});
    const auto decode = [&](engine::Sequence& sequence, std::span<const int32_t> tokens) {
      for (int32_t token : tokens) {
        const engine::Span span{&sequence, std::span(&token, 1), 1};
        EXPECT_TRUE(executor->run(std::span(&span, 1)).ok());
      }
      const auto row = executor->logits(0);
      return std::vector<float>(row.begin(), row.end());
    };
    std::vector<int32_t> prefix(static_cast<size_t>(committed));
    for (size_t i = 0; i < prefix.size(); ++i) prefix[i] = static_cast<int32_t>((7 * i + 3) % 500);

    // 0 -- 1 -- 2 -- 3
    //  \-- 4 -- 5
    const std::vector<int32_t> tokens{11, 22, 33, 44, 55, 66}, depth{0, 1, 2, 3, 1, 2}, end{5, 3, 3, 3, 5, 5};
    const std::vector<std::vector<int>> paths{{0}, {0, 1}, {0, 1, 2}, {0, 1, 2, 3}, {0, 4}, {0, 4, 5}};

    engine::Sequence sequence(executor->pools());
    if (committed > 0) {
      const engine::Span span{&sequence, prefix, 0};
      ASSERT_TRUE(executor->run(std::span(&span, 1)).ok());
    }
    ASSERT_TRUE(sequence.reserve(committed + 6));
    std::vector<int32_t> positions, slots(6), rows(6), sequences(6, 0);
    for (int d : depth) positions.push_back(committed + d);
    std::iota(slots.begin(), slots.end(), committed);
    std::iota(rows.begin(), rows.end(), 0);
    const std::vector<int32_t> length{committed};
    auto step = *backend->record(model->graph(), executor->cache(), {8, 8, false});
    const backend::Batch batch{.tokens = tokens, .positions = positions, .sequences = sequences, .subtree_end = end, .slots = slots,
                               .committed = length, .page_table = sequence.pages(0),
                               .pages_per_sequence = static_cast<int>(sequence.pages(0).size()), .output_rows = rows};
    ASSERT_TRUE(backend->run(*step, batch, nullptr).ok());
    std::vector<std::vector<float>> got;
    for (int i = 0; i < 6; ++i) {
      const auto row = backend->logits(*step, i);
      got.emplace_back(row.begin(), row.end());
    }
    for (size_t node = 0; node < paths.size(); ++node) {
      engine::Sequence plain(executor->pools());
      if (committed > 0) {
        const engine::Span span{&plain, prefix, 0};
        ASSERT_TRUE(executor->run(std::span(&span, 1)).ok());
      }
      std::vector<int32_t> path;
      for (int i : paths[node]) path.push_back(tokens[static_cast<size_t>(i)]);
      const auto want = decode(plain, path);
      EXPECT_EQ(std::memcmp(want.data(), got[node].data(), want.size() * 4), 0) << "node " << node << " after " << committed;
    }
  }
}

// Within a page, over its border, at it.
INSTANTIATE_TEST_SUITE_P(Committed, Tree, ::testing::Values(0, 5, 61, 62, 64, 128));

}  // namespace
}  // namespace kapitsa
