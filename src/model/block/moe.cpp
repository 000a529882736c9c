#include "model/block/moe.h"

namespace kapitsa::model {

void add_moe(backend::Graph& g, backend::Value h, backend::Value x, const Moe& m) {
  std::vector<backend::LinearOp::Part> parts = {{m.router, nullptr, {}}};
  if (m.shared_switch) parts.push_back({m.shared_switch, nullptr, {}});
  const auto logits = g.linear(x, std::nullopt, std::move(parts));
  const backend::Value route = g.route({.in = logits[0], .bias = m.router_bias, .score = m.score, .used = m.used,
                                        .normalise = m.normalise, .epsilon = m.epsilon, .scale = m.scale, .groups = m.groups,
                                        .used_groups = m.used_groups});
  const auto activation = m.gate ? backend::ExpertsOp::Activation::kSwiGlu : backend::ExpertsOp::Activation::kRelu2;
  const backend::Value in = m.latent_down ? g.linear(x, m.latent_down) : x;
  const backend::Value up = g.experts({.in = in, .route = route, .gate = m.gate, .up = m.up, .activation = activation, .used = m.used});
  if (m.latent_up) {
    const backend::Value latent = g.combine({.in = up, .route = route, .down = m.down, .used = m.used, .add = false});
    g.linear_add(h, latent, m.latent_up);
  } else {
    g.combine({.in = up, .route = route, .down = m.down, .used = m.used, .add = true, .out = h});
  }
  if (!m.shared_up) return;
  const backend::Value shared = m.shared_gate ? g.swiglu(x, std::nullopt, m.shared_gate, m.shared_up) : g.relu2(x, std::nullopt, m.shared_up);
  g.linear_add(h, shared, m.shared_down, nullptr, m.shared_switch ? logits[1] : backend::Value{});
}

}  // namespace kapitsa::model
