// Llama (Touvron et al. 2023; Grattafiori et al. 2024; also SmolLM, and all that share the layout):
//
//   h   = Embed[token]
//   a   = RMSNorm(h);   q, k, v = Wq a, Wk a, Wv a;   q, k = RoPE(q), RoPE(k)
//   h  += Wo softmax(q k^T / sqrt(d)) v
//   b   = RMSNorm(h);   h += Wdown (silu(Wgate b) * (Wup b))
//   logits = Whead RMSNorm(h)
#include <cmath>

#include "model/architecture.h"

namespace kapitsa::model {

void llama_forward(const Transformer& m, backend::Graph& g) {
  const Config& c = m.config;
  backend::Value h = g.embed(m.embedding);
  for (const Layer& layer : m.layers) {
    g.tap(h);
    const auto qkv = g.linear(h, layer.attention_norm,
                              {{layer.q, layer.q_bias, {}}, {layer.k, layer.k_bias, {}}, {layer.v, layer.v_bias, {}}});
    const int kv = g.add_kv_layer({c.kv_heads, c.head_dim, layer.window});
    g.rope_kv({.q = qkv[0], .k = qkv[1], .v = qkv[2], .layer = kv, .heads = c.heads, .kv_heads = c.kv_heads,
               .head_dim = c.head_dim, .rope = c.rope});
    const backend::Value o = g.attention({.q = qkv[0], .layer = kv, .heads = c.heads, .kv_heads = c.kv_heads,
                                          .head_dim = c.head_dim, .scale = 1 / std::sqrt(static_cast<float>(c.head_dim))});
    g.linear_add(h, o, layer.o, layer.o_bias);

    const backend::Value up = g.swiglu(h, layer.mlp_norm, layer.gate, layer.up);
    g.linear_add(h, up, layer.down);
  }
  h = g.norm(h, m.final_norm);
  g.tap(h);
  g.logits = g.linear(g.select_rows(h), m.head);
}

}  // namespace kapitsa::model
