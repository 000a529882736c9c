// A mixture's numbers and names, in both containers.
#pragma once

#include "model/loader.h"
#include "model/transformer.h"

namespace kapitsa::model {

// The numbers that all layers share. Keys: num_experts, n_routed_experts or num_local_experts; num_experts_per_tok; norm_topk_prob;
// routed_scaling_factor; n_group and topk_group.
Moe load_moe_config(Loader& loader);

// `p`: what stands before "gate.weight" and "ffn_gate_inp.weight".
inline Name router_name(const Prefix& p) { return p("gate.weight", "ffn_gate_inp.weight"); }

// Router, experts and shared expert of a layer into `moe`. `gated`: experts have a gate.
void load_moe(Loader& loader, const Config& config, const Prefix& p, bool gated, Moe& moe);

}  // namespace kapitsa::model
