// Attention whose output a gate from the query projection scales, as Qwen3-Next and Qwen3.5 use it:
//
//   a   = RMSNorm(h);   [q | gate] per head = Wq a;   k, v = Wk a, Wv a;   q, k = RoPE(RMSNorm(q)), RoPE(RMSNorm(k))  (a part of each head)
//   h  += Wo (softmax(q k^T / sqrt(d)) v * sigmoid(gate))
#pragma once

#include "backend/graph.h"
#include "model/transformer.h"

namespace kapitsa::model {

// h += the attention of the layer's norm of h.
void add_gated_attention(backend::Graph& graph, backend::Value h, const Config& config, const Layer& layer);

}  // namespace kapitsa::model
