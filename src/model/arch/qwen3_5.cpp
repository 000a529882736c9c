// Qwen3.5, dense (also 3.6 and 3.8): three of four layers are Gated DeltaNet (block/delta_net.h), the others attention whose
// output a gate from the query projection scales. All norms but DeltaNet's weigh with 1 + w.
//
//   h   = Embed[token]
//   h  += DeltaNet(RMSNorm(h)), or:
//   a   = RMSNorm(h);   [q | gate] per head = Wq a;   k, v = Wk a, Wv a;   q, k = RoPE(RMSNorm(q)), RoPE(RMSNorm(k))  (a part of each head)
//   h  += Wo (softmax(q k^T / sqrt(d)) v * sigmoid(gate))
//   b   = RMSNorm(h);   h += Wdown (silu(Wgate b) * (Wup b))
//   logits = Whead RMSNorm(h)
#include <cmath>

#include "model/architecture.h"
#include "model/block/delta_net.h"

namespace kapitsa::model {

void qwen3_5_forward(const Transformer& m, backend::Graph& g) {
  const Config& c = m.config;
  backend::Value h = g.embed(m.embedding);
  for (const Layer& layer : m.layers) {
    g.tap(h);
    if (layer.delta) {
      add_delta_net(g, h, layer.attention_norm, *layer.delta);
    } else {
      const auto qkv = g.linear(h, layer.attention_norm, {{layer.q, nullptr, {}}, {layer.k, nullptr, {}}, {layer.v, nullptr, {}}});
      const int kv = g.add_kv_layer({c.kv_heads, c.head_dim});
      g.rope_kv({.q = qkv[0], .k = qkv[1], .v = qkv[2], .layer = kv, .heads = c.heads, .kv_heads = c.kv_heads, .head_dim = c.head_dim,
                 .q_stride = 2 * c.head_dim, .q_norm = layer.q_norm, .k_norm = layer.k_norm, .rope = c.rope});
      const backend::Value o = g.attention({.q = qkv[0], .layer = kv, .heads = c.heads, .kv_heads = c.kv_heads, .head_dim = c.head_dim,
                                            .gated = true, .scale = 1 / std::sqrt(static_cast<float>(c.head_dim))});
      g.linear_add(h, o, layer.o);
    }
    g.linear_add(h, g.swiglu(h, layer.mlp_norm, layer.gate, layer.up), layer.down);
  }
  h = g.norm(h, m.final_norm);
  g.tap(h);
  g.logits = g.linear(g.select_rows(h), m.head);
}

}  // namespace kapitsa::model
