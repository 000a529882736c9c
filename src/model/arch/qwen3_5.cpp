// Qwen3.5, dense (also 3.6 and 3.8): three of four layers are Gated DeltaNet (block/delta_net.h), the others attention whose
// output a gate from the query projection scales. All norms but DeltaNet's weigh with 1 + w.
//
//   h   = Embed[token]
//   h  += DeltaNet(RMSNorm(h)), or:
//   a   = RMSNorm(h);   [q | gate] per head = Wq a;   k, v = Wk a, Wv a;   q, k = RoPE(RMSNorm(q)), RoPE(RMSNorm(k))  (a part of each head)
//   h  += Wo (softmax(q k^T / sqrt(d)) v * sigmoid(gate))
//   b   = RMSNorm(h);   h += Wdown (silu(Wgate b) * (Wup b))
//   logits = Whead RMSNorm(h)
#include "model/architecture.h"
#include "model/block/delta_net.h"
#include "model/block/gated_attention.h"

namespace kapitsa::model {

void qwen3_5_forward(const Transformer& m, backend::Graph& g) {
  backend::Value h = g.embed(m.embedding);
  for (const Layer& layer : m.layers) {
    g.tap(h);
    if (layer.delta) add_delta_net(g, h, layer.attention_norm, *layer.delta);
    else add_gated_attention(g, h, m.config, layer);
    g.linear_add(h, g.swiglu(h, layer.mlp_norm, layer.gate, layer.up), layer.down);
  }
  h = g.norm(h, m.final_norm);
  g.tap(h);
  g.logits = g.linear(g.select_rows(h), m.head);
}

}  // namespace kapitsa::model
