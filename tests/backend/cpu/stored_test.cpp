// Weights kept as the file stores them, decoded on the way: every format runs, with or without tuned kernels.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/pack/cpu_weight.h"
#include "tests/backend/cpu/random_data.h"

namespace kapitsa::cpu {
namespace {

using quant::Format;

constexpr Format kAll[] = {
#define KAPITSA_FORMAT(id, name, gguf) Format::id,
#include "quant/formats.def"
#undef KAPITSA_FORMAT
};

struct Matrix {
  std::vector<std::byte> bytes;
  std::vector<float> floats;  // as the format's decoder gives them
  backend::Stored stored;

  Matrix(Format format, int64_t rows, int64_t columns, std::mt19937& rng) {
    const auto& info = quant::info(format);
    bytes = random_blocks(format, rows * columns / info.block_elements, rng);
    floats.resize(static_cast<size_t>(rows * columns));
    quant::decode_row(format, bytes.data(), floats.size(), floats.data());
    stored = {format, rows, columns, bytes};
  }
};

TEST(Layout, FormatsWithoutPanelsStayAsStored) {
  for (Format format : kAll) {
    const auto layout = CpuWeight::layout_for(format, 512, backend::Compute::kDefault);
    const bool is_float = quant::info(format).block_elements == 1;
    const auto want = is_float                ? CpuWeight::Layout::kFloatPanels
                      : panel_layout(format) ? CpuWeight::Layout::kQuantPanels
                                             : CpuWeight::Layout::kStored;
    EXPECT_EQ(layout, want) << quant::info(format).name;
    if (!is_float) {
      EXPECT_EQ(CpuWeight::layout_for(format, 512, backend::Compute::kFloat32), CpuWeight::Layout::kStored);
    }
  }
}

TEST(Pack, RefusesColumnsThatAreNoMultipleOfTheBlock) {
  CpuBackend backend({.threads = 1});
  for (Format format : kAll) {
    const auto& info = quant::info(format);
    if (info.block_elements == 1) continue;
    const std::vector<std::byte> bytes(static_cast<size_t>(3 * info.block_bytes));
    const auto packed = backend.pack({format, 2, info.block_elements + 16, bytes}, backend::Use::kProduct);
    ASSERT_FALSE(packed.ok()) << info.name;
    EXPECT_EQ(packed.message(), fmt::format("rows of {} weights do not divide into {} blocks of {}",
                                            info.block_elements + 16, info.name, info.block_elements));
  }
}

// embed, matrix, logits: through the backend, against double arithmetic over the decoded weights.
TEST(Stored, ProductsAgreeWithTheDecodedWeights) {
  constexpr int64_t kRows = 37, kColumns = 512;  // a last panel that is not full
  constexpr int kTokens = 5;
  std::mt19937 rng(41);
  for (Format format : kAll) {
    const Matrix table(Format::f32, 8, kColumns, rng);
    const Matrix matrix(format, kRows, kColumns, rng);
    CpuBackend backend({.threads = 2, .compute = backend::Compute::kFloat32});
    backend::Graph graph;
    graph.logits = graph.linear(graph.select_rows(graph.embed(*backend.pack(table.stored, backend::Use::kRows))),
                                *backend.pack(matrix.stored, backend::Use::kProduct));
    const auto cache = *backend.make_cache(graph, {.type = backend::KvType::kF32});
    const auto step = *backend.record(graph, *cache, {8, 8, false});

    const std::vector<int32_t> tokens = {3, 1, 7, 0, 3};
    std::vector<int32_t> positions(kTokens), sequences(kTokens), ends(kTokens, kTokens - 1);
    std::iota(positions.begin(), positions.end(), 0);
    const std::vector<int32_t> committed = {0}, pages = {0};
    const Status status = backend.run(*step, {.tokens = tokens, .positions = positions, .sequences = sequences, .subtree_end = ends,
                                              .slots = positions, .committed = committed, .page_table = pages,
                                              .pages_per_sequence = 1, .output_rows = positions}, nullptr);
    ASSERT_TRUE(status.ok()) << status.message();

    for (int t = 0; t < kTokens; ++t) {
      const auto got = backend.logits(*step, t);
      const float* x = table.floats.data() + tokens[static_cast<size_t>(t)] * kColumns;
      for (int64_t o = 0; o < kRows; ++o) {
        double want = 0, magnitude = 0;
        for (int64_t k = 0; k < kColumns; ++k) {
          const double term = double{matrix.floats[static_cast<size_t>(o * kColumns + k)]} * x[k];
          want += term;
          magnitude += std::fabs(term);
        }
        ASSERT_GT(magnitude, 0) << quant::info(format).name;
        // A chain of 512 roundings at most.
        EXPECT_NEAR(got[static_cast<size_t>(o)], want, 512 * 0x1p-24 * magnitude) << quant::info(format).name << " output " << o;
      }
    }
  }
}

// An embedding in any format: the row is what the decoder gives, bit for bit.
TEST(Stored, RowsAreTheDecodersBits) {
  std::mt19937 rng(43);
  CpuBackend backend({.threads = 1});
  for (Format format : kAll) {
    const Matrix matrix(format, 3, 512, rng);
    const auto packed = *backend.pack(matrix.stored, backend::Use::kRows);
    const auto& weight = static_cast<const CpuWeight&>(*packed);
    std::vector<float> row(512);
    std::vector<std::byte> scratch(weight.row_bytes());
    for (int64_t r = 0; r < 3; ++r) {
      weight.read_row(r, row.data(), scratch.data());
      EXPECT_EQ(std::memcmp(row.data(), matrix.floats.data() + r * 512, 512 * 4), 0) << quant::info(format).name;
    }
  }
}

}  // namespace
}  // namespace kapitsa::cpu
