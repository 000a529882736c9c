// The kernels of recurrent layers, gates and convolutions: every instruction set against the scalar one, bit for bit, and the
// scalar one against plain double arithmetic.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/backend/cpu/kernel_set.h"
#include "tests/backend/cpu/random_data.h"

namespace kapitsa::cpu {
namespace {

class Recurrence : public KernelSet {};
INSTANTIATE_TEST_SUITE_P(Sets, Recurrence, all_sets(), set_name);

// Widths around whole registers and groups of them.
constexpr int kWidths[] = {1, 7, 16, 24, 64, 80, 128, 144};

struct Head {
  int n, m;
  std::vector<float> state, q, k, v, out;
  Head(int n_in, int m_in, std::mt19937& rng) : n(n_in), m(m_in) {
    state = random_floats(static_cast<size_t>(n * m), rng);
    q = random_floats(static_cast<size_t>(n), rng);
    k = random_floats(static_cast<size_t>(n), rng);
    v = random_floats(static_cast<size_t>(m), rng);
    out.resize(static_cast<size_t>(m));
  }
  void delta(const Kernels& kernels) { kernels.delta(state.data(), q.data(), k.data(), v.data(), 0.9f, 0.4f, n, m, out.data()); }
  void scan(const Kernels& kernels) { kernels.scan(state.data(), v.data(), k.data(), q.data(), 0.8f, 0.3f, 1.5f, n, m, out.data()); }
};

TEST_P(Recurrence, StatesAreBitEqual) {
  for (const int m : kWidths) {
    std::mt19937 rng(7);
    Head a(33, m, rng);
    Head b = a;
    for (int step = 0; step < 3; ++step) {
      a.delta(*kernels_);
      b.delta(scalar());
      ASSERT_EQ(a.state, b.state) << m;
      ASSERT_EQ(a.out, b.out) << m;
      a.scan(*kernels_);
      b.scan(scalar());
      ASSERT_EQ(a.state, b.state) << m;
      ASSERT_EQ(a.out, b.out) << m;
    }
  }
}

TEST_P(Recurrence, GatesNormsAndConvolutionsAreBitEqual) {
  std::mt19937 rng(11);
  for (const int n : kWidths) {
    const auto size = static_cast<size_t>(n);
    const auto x = random_floats(size, rng), y = random_floats(size, rng), weight = random_floats(4 * size, rng), tile = random_floats(16, rng);
    const float* taps[] = {x.data(), y.data(), y.data(), x.data()};
    const auto all = [&](const Kernels& k) {
      std::vector<std::vector<float>> out(7, y);
      k.sigmoid(x.data(), n, out[0].data());
      k.sigmoid_mul(x.data(), n, out[1].data());
      k.silu_mul(x.data(), y.data(), n, out[2].data());
      k.axpy(0.7f, x.data(), n, out[3].data());
      k.l2_norm(x.data(), n, 1e-6f, 0.25f, out[4].data());
      k.conv(taps, 4, weight.data(), n, y.data(), n, out[5].data());
      out[6].resize(16);
      k.relu2(tile.data(), 1, out[6].data(), 16, std::min(n, 16));
      return out;
    };
    EXPECT_EQ(all(*kernels_), all(scalar())) << n;
  }
}

TEST(DeltaRule, AgreesWithDoubleArithmetic) {
  std::mt19937 rng(13);
  Head h(32, 24, rng);
  const auto before = h.state;
  h.delta(scalar());
  for (int j = 0; j < h.m; ++j) {
    double read = 0, out = 0;
    for (int i = 0; i < h.n; ++i) read += 0.9f * double{before[static_cast<size_t>(i * h.m + j)]} * h.k[static_cast<size_t>(i)];
    const double change = 0.4f * (h.v[static_cast<size_t>(j)] - read);
    for (int i = 0; i < h.n; ++i) {
      const double now = 0.9f * double{before[static_cast<size_t>(i * h.m + j)]} + h.k[static_cast<size_t>(i)] * change;
      EXPECT_NEAR(h.state[static_cast<size_t>(i * h.m + j)], now, 1e-5);
      out += now * h.q[static_cast<size_t>(i)];
    }
    EXPECT_NEAR(h.out[static_cast<size_t>(j)], out, 1e-4);
  }
}

TEST(Mamba2Scan, AgreesWithDoubleArithmetic) {
  std::mt19937 rng(17);
  Head h(32, 24, rng);
  const auto before = h.state;
  h.scan(scalar());
  for (int j = 0; j < h.m; ++j) {
    double out = 1.5 * h.v[static_cast<size_t>(j)];
    for (int i = 0; i < h.n; ++i) {
      const double now = 0.8f * double{before[static_cast<size_t>(i * h.m + j)]} + h.k[static_cast<size_t>(i)] * (0.3f * double{h.v[static_cast<size_t>(j)]});
      EXPECT_NEAR(h.state[static_cast<size_t>(i * h.m + j)], now, 1e-5);
      out += now * h.q[static_cast<size_t>(i)];
    }
    EXPECT_NEAR(h.out[static_cast<size_t>(j)], out, 1e-4);
  }
}

TEST(Convolution, AgreesWithDoubleArithmetic) {
  std::mt19937 rng(19);
  const auto weight = random_floats(3 * 20, rng), bias = random_floats(20, rng), a = random_floats(20, rng), b = random_floats(20, rng), c = random_floats(20, rng);
  const float* taps[] = {a.data(), b.data(), c.data()};
  std::vector<float> out(20);
  scalar().conv(taps, 3, weight.data(), 20, bias.data(), 20, out.data());
  for (size_t i = 0; i < 20; ++i) {
    const double x = bias[i] + double{weight[i]} * a[i] + double{weight[20 + i]} * b[i] + double{weight[40 + i]} * c[i];
    EXPECT_NEAR(out[i], x / (1 + std::exp(-x)), 2e-6);
  }
}

}  // namespace
}  // namespace kapitsa::cpu
