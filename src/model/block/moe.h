// A mixture of experts beside a shared expert, as the families write it:
//
//   s = score(Wr x)                                     (softmax over all experts, or a sigmoid each)
//   T = the largest of s + bias;   w_e = scale s_e / (sum over T of s + eps)
//   h += sum over e in T of w_e Wdown_e f(Wgate_e x, Wup_e x)  +  [sigmoid(Wswitch x)] Wdown f(Wgate x, Wup x)
//
// with f = silu(gate) * up, or max(up, 0)^2 where there is no gate. Latent experts (Nemotron Super) work on Wl x, and what
// they say goes through Wu.
#pragma once

#include "backend/graph.h"
#include "model/transformer.h"

namespace kapitsa::model {

// h += the mixture of `x`, which is normed.
void add_moe(backend::Graph& graph, backend::Value h, backend::Value x, const Moe& moe);

}  // namespace kapitsa::model
