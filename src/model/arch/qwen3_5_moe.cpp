// Qwen3.5-MoE (35B-A3B and its like): Qwen3.5's layers (arch/qwen3_5.cpp) with a mixture of experts (block/moe.h) beside a
// shared expert that sigmoid(Wswitch b) scales.
//
//   h  += DeltaNet(RMSNorm(h)), or h += Wo (softmax(q k^T / sqrt(d)) v * sigmoid(gate))
//   b   = RMSNorm(h);   p = softmax(Wr b);   T = the k largest
//   h  += sum over T of (p_e / sum p) E_e(b)  +  sigmoid(Wswitch b) E_shared(b)
#include "model/architecture.h"
#include "model/block/delta_net.h"
#include "model/block/gated_attention.h"
#include "model/block/moe.h"

namespace kapitsa::model {

void qwen3_5_moe_forward(const Transformer& m, backend::Graph& g) {
  backend::Value h = g.embed(m.embedding);
  for (const Layer& layer : m.layers) {
    g.tap(h);
    if (layer.delta) add_delta_net(g, h, layer.attention_norm, *layer.delta);
    else add_gated_attention(g, h, m.config, layer);
    add_moe(g, h, g.norm(h, layer.mlp_norm), *layer.moe);
  }
  h = g.norm(h, m.final_norm);
  g.tap(h);
  g.logits = g.linear(g.select_rows(h), m.head);
}

}  // namespace kapitsa::model
