#include "model/block/delta_net.h"

#include <cmath>

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

void load_delta_net(Loader& l, const Config& c, const std::string& p, DeltaNet& n) {
  const auto name = [&](const char* hf, const char* gguf) { return p + (l.gguf() ? gguf : hf); };
  const int64_t values = int64_t{n.value_heads} * n.value_dim, all = 2 * int64_t{n.key_heads} * n.key_dim + values;
  n.qkv = l.matrix(name("linear_attn.in_proj_qkv.weight", "attn_qkv.weight"), all, c.hidden);
  n.z = l.matrix(name("linear_attn.in_proj_z.weight", "attn_gate.weight"), values, c.hidden);
  n.a = l.matrix(name("linear_attn.in_proj_a.weight", "ssm_alpha.weight"), n.value_heads, c.hidden);
  n.b = l.matrix(name("linear_attn.in_proj_b.weight", "ssm_beta.weight"), n.value_heads, c.hidden);
  n.conv = load_conv(l, name("linear_attn.conv1d.weight", "ssm_conv1d.weight"), all, n.kernel);
  n.decay = load_decay(l, name("linear_attn.A_log", "ssm_a"), n.value_heads);
  n.dt_bias = l.vector(name("linear_attn.dt_bias", "ssm_dt.bias"), n.value_heads);
  n.norm = l.norm(name("linear_attn.norm.weight", "ssm_norm.weight"), n.value_dim, c.norm_eps);
  n.out = l.matrix(name("linear_attn.out_proj.weight", "ssm_out.weight"), c.hidden, values);
}

}  // namespace kapitsa::model
