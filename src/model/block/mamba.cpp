#include "model/block/mamba.h"

#include <cmath>
#include <limits>

#include "model/block/conv_weight.h"

namespace kapitsa::model {

void add_mamba(backend::Graph& g, backend::Value h, const backend::Norm& norm, const Mamba& m) {
  const int inner = m.heads * m.head_dim, xbc = inner + 2 * m.groups * m.state_dim;
  const backend::Value in = g.linear(h, norm, {{m.in, nullptr, {}}})[0];
  const backend::Value z = g.view(in, 0, inner), mixed = g.view(in, inner, xbc), dt = g.view(in, inner + xbc, m.heads);
  const int history = g.add_state(int64_t{m.kernel - 1} * xbc);
  const int memory = g.add_state(int64_t{inner} * m.state_dim);
  const backend::Value x = g.conv({.in = mixed, .weight = m.conv, .bias = m.conv_bias, .kernel = m.kernel, .state = history});
  const backend::Value y = g.scan({.in = x, .dt = dt, .decay = m.decay, .dt_bias = m.dt_bias, .d = m.d, .heads = m.heads, .head_dim = m.head_dim,
                                   .groups = m.groups, .state_dim = m.state_dim, .low = m.low, .high = m.high, .state = memory});
  const backend::Value normed = g.gated_norm({.in = y, .gate = z, .norm = m.norm, .group = inner / m.groups, .gate_first = true});
  g.linear_add(h, normed, m.out);
}

Mamba load_mamba_config(Loader& l) {
  constexpr int64_t kMost = 1 << 16;
  Mamba m;
  m.heads = l.count("mamba_num_heads", "{arch}.ssm.time_step_rank", kMost);
  m.groups = l.count("n_groups", "{arch}.ssm.group_count", kMost);
  m.state_dim = l.count("ssm_state_size", "{arch}.ssm.state_size", kMost);
  m.kernel = l.count("conv_kernel", "{arch}.ssm.conv_kernel", 16);
  m.head_dim = l.gguf() ? l.count("", "{arch}.ssm.inner_size", 1 << 20) / m.heads : l.count("mamba_head_dim", "", kMost);
  m.high = std::numeric_limits<float>::infinity();
  if (const Json& config = l.config(); config.is_object() && config.contains("time_step_limit")) {
    // [low, high]; infinity is no JSON, and stands there in more than one way.
    const Json& limit = config["time_step_limit"];
    if (limit.is_array() && limit.size() == 2) {
      if (limit[0].is_number()) m.low = limit[0].get<float>();
      if (limit[1].is_number()) m.high = limit[1].get<float>();
    }
  }
  if (m.heads % m.groups != 0 || m.kernel < 2 || !(m.low <= m.high)) {
    l.fail(error(Code::kCorrupt, "{}: {} heads in {} groups, convolution of {}, time steps from {} to {}: these make no Mamba-2 layer",
                 l.checkpoint().path, m.heads, m.groups, m.kernel, m.low, m.high));
  }
  return m;
}

void load_mamba(Loader& l, const Config& c, const Prefix& p, Mamba& m) {
  const int64_t inner = int64_t{m.heads} * m.head_dim, xbc = inner + 2 * int64_t{m.groups} * m.state_dim;
  m.in = l.matrix(p("in_proj.weight", "ssm_in.weight"), inner + xbc + m.heads, c.hidden);
  m.conv = load_conv(l, p("conv1d.weight", "ssm_conv1d.weight"), xbc, m.kernel);
  m.conv_bias = l.maybe_vector(p("conv1d.bias", "ssm_conv1d.bias"), xbc);
  m.decay = load_decay(l, p("A_log", "ssm_a").shaped({m.heads, 1}), m.heads);
  m.dt_bias = l.vector(p("dt_bias", "ssm_dt.bias"), m.heads);
  m.d = l.vector(p("D", "ssm_d").shaped({m.heads, 1}), m.heads);
  m.norm = l.norm(p("norm.weight", "ssm_norm.weight").shaped({m.groups, inner / m.groups}), inner, c.norm_eps);
  m.out = l.matrix(p("out_proj.weight", "ssm_out.weight"), c.hidden, inner);
}

}  // namespace kapitsa::model
