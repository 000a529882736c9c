#include "model/block/gated_attention.h"

#include <cmath>

namespace kapitsa::model {

void add_gated_attention(backend::Graph& g, backend::Value h, const Config& c, const Layer& layer) {
  const auto qkv = g.linear(h, layer.attention_norm, {{layer.q, nullptr, {}}, {layer.k, nullptr, {}}, {layer.v, nullptr, {}}});
  const int kv = g.add_kv_layer({c.kv_heads, c.head_dim});
  g.rope_kv({.q = qkv[0], .k = qkv[1], .v = qkv[2], .layer = kv, .heads = c.heads, .kv_heads = c.kv_heads, .head_dim = c.head_dim,
             .q_stride = 2 * c.head_dim, .q_norm = layer.q_norm, .k_norm = layer.k_norm, .rope = c.rope});
  const backend::Value o = g.attention({.q = qkv[0], .layer = kv, .heads = c.heads, .kv_heads = c.kv_heads, .head_dim = c.head_dim,
                                        .gated = true, .scale = 1 / std::sqrt(static_cast<float>(c.head_dim))});
  g.linear_add(h, o, layer.o);
}

}  // namespace kapitsa::model
