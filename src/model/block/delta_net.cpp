#include "model/block/delta_net.h"

#include <cmath>
#include <numeric>

#include "model/block/conv_weight.h"

namespace kapitsa::model {

void add_delta_net(backend::Graph& g, backend::Value h, const backend::Norm& norm, const DeltaNet& n) {
  const auto in = g.linear(h, norm, {{n.qkv, nullptr, {}}, {n.z, nullptr, {}}, {n.a, nullptr, {}}, {n.b, nullptr, {}}});
  const int history = g.add_state(int64_t{n.kernel - 1} * in[0].width);
  const int memory = g.add_state(int64_t{n.value_heads} * n.key_dim * n.value_dim);
  const backend::Value qkv = g.conv({.in = in[0], .weight = n.conv, .kernel = n.kernel, .state = history});
  const backend::Value o = g.delta({.in = qkv, .a = in[2], .b = in[3], .decay = n.decay, .dt_bias = n.dt_bias, .key_heads = n.key_heads,
                                    .value_heads = n.value_heads, .key_dim = n.key_dim, .value_dim = n.value_dim, .map = n.map, .state = memory});
  const backend::Value y = g.gated_norm({.in = o, .gate = in[1], .norm = n.norm, .group = n.value_dim, .gate_first = false});
  g.linear_add(h, y, n.out);
}

DeltaNet load_delta_net_config(Loader& l) {
  constexpr int64_t kMost = 4096;
  DeltaNet n;
  n.key_heads = l.count("linear_num_key_heads", "{arch}.ssm.group_count", kMost);
  n.value_heads = l.count("linear_num_value_heads", "{arch}.ssm.time_step_rank", kMost);
  n.key_dim = l.count("linear_key_head_dim", "{arch}.ssm.state_size", kMost);
  n.kernel = l.count("linear_conv_kernel_dim", "{arch}.ssm.conv_kernel", 16);
  if (l.gguf()) {
    const int inner = l.count("", "{arch}.ssm.inner_size", 1 << 20);
    n.value_dim = inner / n.value_heads;
    // Its converter put the value heads in another order, so that neighbours read different key heads.
    n.map = backend::HeadMap::kTiled;
  } else {
    n.value_dim = l.count("linear_value_head_dim", "", kMost);
  }
  if (n.value_heads % n.key_heads != 0 || n.kernel < 2) {
    l.fail(error(Code::kCorrupt, "{}: {} value heads over {} key heads, convolution of {}: whole groups and at least 2 were expected",
                 l.checkpoint().path, n.value_heads, n.key_heads, n.kernel));
  }
  return n;
}

namespace {

// The order of a GGUF's value channels behind `before` others: heads of `size` channels, tiled over the key heads there and
// grouped by them in a checkpoint.
std::vector<int32_t> tiled(const DeltaNet& n, int64_t before, int size) {
  std::vector<int32_t> order(static_cast<size_t>(before + int64_t{n.value_heads} * size));
  std::iota(order.begin(), order.end(), 0);
  const int repeat = n.value_heads / n.key_heads;
  for (int h = 0; h < n.value_heads; ++h) {
    const int from = h % n.key_heads * repeat + h / n.key_heads;
    for (int i = 0; i < size; ++i) order[static_cast<size_t>(before) + static_cast<size_t>(h * size + i)] = static_cast<int32_t>(before) + from * size + i;
  }
  return order;
}

}  // namespace

void load_delta_net(Loader& l, const Config& c, const Prefix& p, DeltaNet& n) {
  const int64_t keys = 2 * int64_t{n.key_heads} * n.key_dim, values = int64_t{n.value_heads} * n.value_dim;
  const auto mixed = tiled(n, keys, n.value_dim), wide = tiled(n, 0, n.value_dim), one = tiled(n, 0, 1);
  n.qkv = l.matrix(p("linear_attn.in_proj_qkv.weight", "attn_qkv.weight").with_rows(mixed), keys + values, c.hidden);
  n.z = l.matrix(p("linear_attn.in_proj_z.weight", "attn_gate.weight").with_rows(wide), values, c.hidden);
  n.a = l.matrix(p("linear_attn.in_proj_a.weight", "ssm_alpha.weight").with_rows(one), n.value_heads, c.hidden);
  n.b = l.matrix(p("linear_attn.in_proj_b.weight", "ssm_beta.weight").with_rows(one), n.value_heads, c.hidden);
  n.conv = load_conv(l, p("linear_attn.conv1d.weight", "ssm_conv1d.weight").with_rows(mixed), keys + values, n.kernel);
  n.decay = load_decay(l, p("linear_attn.A_log", "ssm_a").with_rows(one), n.value_heads);
  n.dt_bias = l.vector(p("linear_attn.dt_bias", "ssm_dt.bias").with_rows(one), n.value_heads);
  n.norm = l.norm(p("linear_attn.norm.weight", "ssm_norm.weight"), n.value_dim, c.norm_eps);
  n.out = l.matrix(p("linear_attn.out_proj.weight", "ssm_out.weight").with_columns(wide), c.hidden, values);
}

}  // namespace kapitsa::model
