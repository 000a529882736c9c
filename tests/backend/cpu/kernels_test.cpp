// Every instruction set's kernels against the scalar set, bit for bit, and the scalar set against plain double arithmetic.
#include "backend/cpu/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "backend/cpu/pack/panel.h"
#include "quant/half.h"
#include "tests/backend/cpu/kernel_set.h"
#include "tests/backend/cpu/random_data.h"

namespace kapitsa::cpu {
namespace {

using quant::Format;

INSTANTIATE_TEST_SUITE_P(Sets, KernelSet, all_sets(), set_name);

constexpr Format kPanelFormats[] = {Format::q8_0, Format::q4_0, Format::q4_1, Format::q5_0,
                                    Format::q5_1, Format::q4_k, Format::q5_k, Format::q6_k};

struct Product {
  std::vector<uint8_t> panel;
  std::vector<std::vector<std::byte>> rows;
  int64_t superblocks;
};

// 16 random rows of a format, packed.
Product random_product(Format format, int64_t superblocks, std::mt19937& rng) {
  const PanelLayout& layout = *panel_layout(format);
  const auto& info = quant::info(format);
  Product p;
  p.superblocks = superblocks;
  const std::byte* pointers[kPanelRows];
  for (int r = 0; r < kPanelRows; ++r) {
    p.rows.push_back(random_blocks(format, superblocks, rng));
    pointers[r] = p.rows.back().data();
  }
  p.panel.resize(static_cast<size_t>(superblocks * layout.superblock_bytes()) + 4096);
  pack_panel(layout, static_cast<size_t>(info.block_bytes), pointers, superblocks, p.panel.data());
  return p;
}

TEST(Panel, UnpackGivesTheFilesBytes) {
  std::mt19937 rng(1);
  for (Format format : kPanelFormats) {
    const Product p = random_product(format, 3, rng);
    const auto bytes = static_cast<size_t>(quant::info(format).block_bytes);
    for (int r = 0; r < kPanelRows; ++r) {
      std::vector<std::byte> row(3 * bytes);
      unpack_row(*panel_layout(format), bytes, p.panel.data(), r, 3, row.data());
      ASSERT_EQ(row, p.rows[static_cast<size_t>(r)]) << quant::info(format).name << " row " << r;
    }
  }
}

TEST(Panel, TakesNoMoreThanTheFile) {
  for (Format format : kPanelFormats) {
    const PanelLayout& l = *panel_layout(format);
    EXPECT_EQ(l.superblock_bytes(), kPanelRows * quant::info(format).block_bytes) << quant::info(format).name;
    EXPECT_EQ(l.blocks * kBlock, quant::info(format).block_elements);
  }
}

struct Activations {
  std::vector<float> x;
  std::vector<int8_t> q;
  std::vector<float> scale, scaled_sum;
  std::vector<int32_t> sum;
  QuantRows rows;

  Activations(const Kernels& k, int64_t count, int64_t columns, std::mt19937& rng) : x(random_floats(static_cast<size_t>(count * columns), rng)) {
    const int64_t padded = (columns + 31) / 32 * 32;
    q.resize(static_cast<size_t>(count * padded));
    scale.resize(q.size() / 32);
    scaled_sum.resize(q.size() / 32);
    sum.resize(q.size() / 16);
    rows = {q.data(), scale.data(), scaled_sum.data(), sum.data(), padded};
    for (int64_t r = 0; r < count; ++r) k.quantize(x.data() + r * columns, columns, rows, r);
  }
};

TEST_P(KernelSet, QuantizeIsBitEqual) {
  for (int64_t columns : {32, 64, 576, 40, 17, 1}) {
    std::mt19937 a(7), b(7);
    const Activations want(scalar(), 3, columns, a), got(*kernels_, 3, columns, b);
    EXPECT_EQ(want.q, got.q);
    EXPECT_EQ(want.sum, got.sum);
    EXPECT_EQ(std::memcmp(want.scale.data(), got.scale.data(), want.scale.size() * 4), 0);
    EXPECT_EQ(std::memcmp(want.scaled_sum.data(), got.scaled_sum.data(), want.scale.size() * 4), 0);
  }
}

TEST(Quantize, ErrorIsHalfAStep) {
  std::mt19937 rng(3);
  const Activations a(scalar(), 1, 1024, rng);
  for (size_t i = 0; i < a.x.size(); ++i) {
    const float step = a.scale[i / 32];
    EXPECT_LE(std::fabs(a.x[i] - step * static_cast<float>(a.q[i])), step * 0.5001f);
  }
}

TEST_P(KernelSet, LinearQuantIsBitEqualForAnyRows) {
  std::mt19937 rng(11);
  for (Format format : kPanelFormats) {
    for (int64_t superblocks : {1, 2, 5}) {
      const Product p = random_product(format, superblocks, rng);
      const int64_t columns = superblocks * quant::info(format).block_elements;
      const Activations x(scalar(), 19, columns, rng);
      std::vector<uint8_t> scratch(static_cast<size_t>(panel_scratch_bytes(columns)));
      std::vector<float> want(19 * 16);
      for (int r = 0; r < 19; ++r) {
        scalar().linear_quant(format, p.panel.data(), superblocks, x.rows, r, 1, want.data() + r * 16, scratch.data());
      }
      for (int rows = 1; rows <= 19; ++rows) {
        std::vector<float> got(static_cast<size_t>(rows) * 16);
        kernels_->linear_quant(format, p.panel.data(), superblocks, x.rows, 0, rows, got.data(), scratch.data());
        ASSERT_EQ(std::memcmp(got.data(), want.data(), got.size() * 4), 0)
            << quant::info(format).name << ", " << rows << " rows, " << columns << " columns";
      }
    }
  }
}

TEST(LinearQuant, ScalarAgreesWithDoubleArithmetic) {
  std::mt19937 rng(13);
  for (Format format : kPanelFormats) {
    const int64_t superblocks = 4, columns = superblocks * quant::info(format).block_elements;
    const Product p = random_product(format, superblocks, rng);
    const Activations x(scalar(), 2, columns, rng);
    std::vector<uint8_t> scratch(static_cast<size_t>(panel_scratch_bytes(columns)));
    float got[32];
    scalar().linear_quant(format, p.panel.data(), superblocks, x.rows, 0, 2, got, scratch.data());
    for (int row = 0; row < 2; ++row) {
      for (int o = 0; o < 16; ++o) {
        std::vector<float> w(static_cast<size_t>(columns));
        quant::decode_row(format, p.rows[static_cast<size_t>(o)].data(), w.size(), w.data());
        double want = 0, magnitude = 0;
        for (size_t k = 0; k < w.size(); ++k) {
          const size_t i = static_cast<size_t>(row * columns) + k;
          const double term = double{w[k]} * x.scale[i / 32] * x.q[i];
          want += term;
          magnitude += std::fabs(term);
        }
        // A chain of `blocks` roundings, each half a unit in the last place of what it holds.
        EXPECT_NEAR(got[row * 16 + o], want, 1e-5 * magnitude + 1e-30) << quant::info(format).name;
      }
    }
  }
}

TEST_P(KernelSet, LinearFloatIsBitEqualForAnyRows) {
  std::mt19937 rng(17);
  for (Format format : {Format::f32, Format::f16, Format::bf16}) {
    for (int64_t columns : {1, 3, 64, 172, 577}) {
      const auto size = static_cast<size_t>(quant::info(format).block_bytes);
      const auto values = random_floats(static_cast<size_t>(columns) * 16, rng);
      std::vector<std::byte> panel(values.size() * size);
      for (size_t i = 0; i < values.size(); ++i) {
        const uint16_t half = quant::float_to_half(values[i]);
        const auto bits = static_cast<uint16_t>(std::bit_cast<uint32_t>(values[i]) >> 16);
        const void* from = format == Format::f32 ? static_cast<const void*>(&values[i]) : format == Format::f16 ? &half : &bits;
        std::memcpy(panel.data() + i * size, from, size);
      }
      const auto x = random_floats(static_cast<size_t>(columns) * 9, rng);
      std::vector<float> want(9 * 16);
      for (int r = 0; r < 9; ++r) scalar().linear_float(format, panel.data(), columns, x.data() + r * columns, columns, 1, want.data() + r * 16);
      for (int rows = 1; rows <= 9; ++rows) {
        std::vector<float> got(static_cast<size_t>(rows) * 16);
        kernels_->linear_float(format, panel.data(), columns, x.data(), columns, rows, got.data());
        ASSERT_EQ(std::memcmp(got.data(), want.data(), got.size() * 4), 0) << columns << " columns, " << rows << " rows";
      }
    }
  }
}

TEST_P(KernelSet, NormRotateAndEpiloguesAreBitEqual) {
  std::mt19937 rng(19);
  for (int64_t n : {1, 8, 16, 31, 64, 576}) {
    const auto x = random_floats(static_cast<size_t>(n), rng), w = random_floats(static_cast<size_t>(n), rng);
    std::vector<float> want(x.size()), got(x.size());
    scalar().rms_norm(x.data(), w.data(), 1e-5f, n, want.data());
    kernels_->rms_norm(x.data(), w.data(), 1e-5f, n, got.data());
    EXPECT_EQ(std::memcmp(want.data(), got.data(), want.size() * 4), 0) << n;
    for (bool neighbours : {false, true}) {
      const int pairs = static_cast<int>(n / 2);
      const auto c = random_floats(x.size(), rng), s = random_floats(x.size(), rng);
      auto a = x, b = x;
      scalar().rotate(a.data(), c.data(), s.data(), pairs, neighbours);
      kernels_->rotate(b.data(), c.data(), s.data(), pairs, neighbours);
      EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * 4), 0) << n;
    }
  }
  for (int width : {1, 7, 16}) {
    const auto tile = random_floats(5 * 16, rng), up = random_floats(5 * 16, rng), bias = random_floats(16, rng);
    const auto start = random_floats(5 * 20, rng);
    for (int which = 0; which < 5; ++which) {
      auto a = start, b = start;
      const auto apply = [&](const Kernels& k, float* out) {
        if (which == 0) k.store(tile.data(), 5, nullptr, out, 20, width);
        if (which == 1) k.store(tile.data(), 5, bias.data(), out, 20, width);
        if (which == 2) k.add(tile.data(), 5, nullptr, out, 20, width);
        if (which == 3) k.add(tile.data(), 5, bias.data(), out, 20, width);
        if (which == 4) k.swiglu(tile.data(), up.data(), 5, out, 20, width);
      };
      apply(scalar(), a.data());
      apply(*kernels_, b.data());
      EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * 4), 0) << which;
    }
  }
}

TEST(Swiglu, AgreesWithDoubleArithmetic) {
  std::vector<float> gate, up(16, 1.0f);
  for (float g : {-1000.0f, -88.0f, -30.0f, -5.0f, -1.0f, -1e-3f, 0.0f, 1e-3f, 1.0f, 5.0f, 30.0f, 88.0f, 1000.0f, 0.5f, -0.5f, 2.0f}) gate.push_back(g);
  std::vector<float> out(16);
  scalar().swiglu(gate.data(), up.data(), 1, out.data(), 16, 16);
  for (size_t i = 0; i < 16; ++i) {
    const double want = gate[i] / (1 + std::exp(-double{gate[i]}));
    EXPECT_NEAR(out[i], want, std::fabs(want) * 1e-6 + 1e-35) << gate[i];
  }
}

// Attention over a few blocks, queries with ranges of their own.
struct Attended {
  std::vector<float> out;
  static Attended run(const Kernels& k, int head_dim, int queries, bool half, std::mt19937 rng, int together) {
    const int blocks = 3;
    const auto n = static_cast<size_t>(head_dim) * 64;
    std::vector<std::vector<float>> keys, values;
    for (int b = 0; b < blocks; ++b) {
      keys.push_back(random_floats(n, rng));
      values.push_back(random_floats(n, rng));
    }
    const auto q = random_floats(static_cast<size_t>(queries * head_dim), rng);
    const int padded = (head_dim + 15) / 16 * 16;
    std::vector<float> acc(static_cast<size_t>(queries * padded)), sums(static_cast<size_t>(queries) * 16);
    std::vector<QueryState> states;
    for (int i = 0; i < queries; ++i) states.push_back({q.data() + i * head_dim, acc.data() + i * padded, sums.data() + i * 16, -INFINITY});
    for (int b = 0; b < blocks; ++b) {
      std::vector<int> first, last;
      for (int i = 0; i < queries; ++i) {
        first.push_back(b == 0 ? i % 7 : 0);
        last.push_back(b == blocks - 1 ? 1 + (i * 13) % 64 : 64);
      }
      std::vector<uint16_t> kh(n), vh(n);
      for (size_t i = 0; i < n; ++i) {
        kh[i] = quant::float_to_half(keys[static_cast<size_t>(b)][i]);
        vh[i] = quant::float_to_half(values[static_cast<size_t>(b)][i]);
      }
      const void* kp = half ? static_cast<const void*>(kh.data()) : keys[static_cast<size_t>(b)].data();
      const void* vp = half ? static_cast<const void*>(vh.data()) : values[static_cast<size_t>(b)].data();
      for (int i = 0; i < queries; i += together) {
        k.attend(states.data() + i, std::min(together, queries - i), first.data() + i, last.data() + i, kp, vp, half, head_dim, 0.125f);
      }
    }
    Attended a;
    a.out.resize(static_cast<size_t>(queries * head_dim));
    const float sink = 0.3f;
    for (int i = 0; i < queries; ++i) k.finish(states[static_cast<size_t>(i)], i % 2 ? &sink : nullptr, head_dim, a.out.data() + i * head_dim);
    return a;
  }
};

TEST_P(KernelSet, AttentionIsBitEqualForAnyGrouping) {
  for (int head_dim : {8, 32, 64, 80, 128}) {
    for (bool half : {false, true}) {
      const std::mt19937 rng(23);
      const auto want = Attended::run(scalar(), head_dim, 9, half, rng, 1);
      for (int together : {1, 2, 4, 5, 9}) {
        const auto got = Attended::run(*kernels_, head_dim, 9, half, rng, together);
        ASSERT_EQ(std::memcmp(want.out.data(), got.out.data(), want.out.size() * 4), 0) << head_dim << " together " << together;
      }
    }
  }
}

TEST(Attention, ScalarAgreesWithDoubleArithmetic) {
  // The same data as above, computed plainly.
  const int head_dim = 64, queries = 5, blocks = 3;
  const auto got = Attended::run(scalar(), head_dim, queries, false, std::mt19937(29), 3);
  std::mt19937 rng(29);
  const auto n = static_cast<size_t>(head_dim) * 64;
  std::vector<std::vector<float>> keys, values;
  for (int b = 0; b < blocks; ++b) {
    keys.push_back(random_floats(n, rng));
    values.push_back(random_floats(n, rng));
  }
  const auto q = random_floats(static_cast<size_t>(queries * head_dim), rng);
  for (int i = 0; i < queries; ++i) {
    double total = i % 2 ? std::exp(double{0.3f}) : 0;
    std::vector<double> want(static_cast<size_t>(head_dim));
    for (int b = 0; b < blocks; ++b) {
      for (int j = b == 0 ? i % 7 : 0; j < (b == blocks - 1 ? 1 + (i * 13) % 64 : 64); ++j) {
        double score = 0;
        for (int d = 0; d < head_dim; ++d) score += double{q[static_cast<size_t>(i * head_dim + d)]} * keys[static_cast<size_t>(b)][static_cast<size_t>(d * 64 + j)];
        const double p = std::exp(score * 0.125);
        total += p;
        for (int d = 0; d < head_dim; ++d) want[static_cast<size_t>(d)] += p * values[static_cast<size_t>(b)][static_cast<size_t>(j * head_dim + d)];
      }
    }
    for (int d = 0; d < head_dim; ++d) {
      EXPECT_NEAR(got.out[static_cast<size_t>(i * head_dim + d)], want[static_cast<size_t>(d)] / total, 2e-6) << i << " " << d;
    }
  }
}

TEST(Attention, KeysOutsideTheRangeMayHoldAnything) {
  const int head_dim = 16;
  std::mt19937 rng(31);
  const auto q = random_floats(16, rng);
  auto keys = random_floats(16 * 64, rng), values = random_floats(16 * 64, rng);
  const int first = 3, last = 20;
  const auto run = [&] {
    std::vector<float> acc(16), sum(16), out(16);
    QueryState state{q.data(), acc.data(), sum.data(), -INFINITY};
    best_kernels().attend(&state, 1, &first, &last, keys.data(), values.data(), false, head_dim, 1.0f);
    best_kernels().finish(state, nullptr, head_dim, out.data());
    return out;
  };
  const auto clean = run();
  for (int j = 0; j < 64; ++j) {
    if (j >= first && j < last) continue;
    for (int d = 0; d < head_dim; ++d) {
      keys[static_cast<size_t>(d * 64 + j)] = j % 2 ? NAN : INFINITY;
      values[static_cast<size_t>(j * head_dim + d)] = j % 2 ? INFINITY : NAN;
    }
  }
  EXPECT_EQ(run(), clean);
}

}  // namespace
}  // namespace kapitsa::cpu
