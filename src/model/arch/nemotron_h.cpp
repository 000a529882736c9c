// Nemotron-H (NVIDIA 2025; Nemotron 3 Nano, Super and their like): each layer is one mixer, a Mamba-2 (block/mamba.h), an
// attention without positions, a ReLU^2 MLP or a mixture of such (block/moe.h).
//
//   h   = Embed[token]
//   h  += Mixer(RMSNorm(h))
//   attention: Wo softmax(q k^T / sqrt(d)) v;   MLP: Wdown max(Wup x, 0)^2
//   logits = Whead RMSNorm(h)
#include <cmath>

#include "model/architecture.h"
#include "model/block/mamba.h"
#include "model/block/moe.h"

namespace kapitsa::model {

void nemotron_h_forward(const Transformer& m, backend::Graph& g) {
  const Config& c = m.config;
  backend::Value h = g.embed(m.embedding);
  for (const Layer& layer : m.layers) {
    g.tap(h);
    const backend::Norm& norm = layer.attention_norm;
    if (layer.mamba) {
      add_mamba(g, h, norm, *layer.mamba);
    } else if (layer.moe) {
      add_moe(g, h, g.norm(h, norm), *layer.moe);
    } else if (layer.up) {
      g.linear_add(h, g.relu2(h, norm, layer.up), layer.down);
    } else {
      const auto qkv = g.linear(h, norm, {{layer.q, layer.q_bias, {}}, {layer.k, layer.k_bias, {}}, {layer.v, layer.v_bias, {}}});
      const int kv = g.add_kv_layer({c.kv_heads, c.head_dim});
      g.rope_kv({.q = qkv[0], .k = qkv[1], .v = qkv[2], .layer = kv, .heads = c.heads, .kv_heads = c.kv_heads, .head_dim = c.head_dim});
      const backend::Value o = g.attention({.q = qkv[0], .layer = kv, .heads = c.heads, .kv_heads = c.kv_heads, .head_dim = c.head_dim,
                                            .scale = 1 / std::sqrt(static_cast<float>(c.head_dim))});
      g.linear_add(h, o, layer.o, layer.o_bias);
    }
  }
  h = g.norm(h, m.final_norm);
  g.tap(h);
  g.logits = g.linear(g.select_rows(h), m.head);
}

}  // namespace kapitsa::model
