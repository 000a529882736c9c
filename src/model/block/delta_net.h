// Gated DeltaNet (Yang, Kautz and Hatamizadeh 2024) as Qwen3-Next and Qwen3.5 use it:
//
//   [q k v] = SiLU(conv(Wqkv x));   z = Wz x;   a = Wa x;   b = Wb x                    (x is normed)
//   per value head:  S = exp(-A softplus(a + dt)) S;   S += k (sigmoid(b) (v - S^T k))^T;   o = S^T q
//   h += Wout (RMSNorm(o) * SiLU(z))
#pragma once

#include "backend/graph.h"
#include "model/loader.h"
#include "model/transformer.h"

namespace kapitsa::model {

// h += the mixer of norm(h).
void add_delta_net(backend::Graph& graph, backend::Value h, const backend::Norm& norm, const DeltaNet& net);

// The numbers that all layers share.
DeltaNet load_delta_net_config(Loader& loader);
// A layer's weights.
void load_delta_net(Loader& loader, const Config& config, const Prefix& p, DeltaNet& net);

}  // namespace kapitsa::model
