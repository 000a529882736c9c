// A Mamba-2 mixer (Dao and Gu 2024) as Nemotron-H uses it:
//
//   [z | x B C | dt] = Win u;   [x B C] = SiLU(conv([x B C]) + bias)                     (u is normed)
//   per head, with its group's B and C:  t = softplus(dt + bias);   S = exp(-A t) S + B (t x)^T;   y = S^T C + D x
//   h += Wout RMSNorm(y * SiLU(z))                                                       (normed in as many groups)
#pragma once

#include "backend/graph.h"
#include "model/loader.h"
#include "model/transformer.h"

namespace kapitsa::model {

// h += the mixer of norm(h).
void add_mamba(backend::Graph& graph, backend::Value h, const backend::Norm& norm, const Mamba& mamba);

// The numbers that all layers share.
Mamba load_mamba_config(Loader& loader);
// A layer's weights. `p`: "backbone.layers.3.mixer."
void load_mamba(Loader& loader, const Config& config, const Prefix& p, Mamba& mamba);

}  // namespace kapitsa::model
