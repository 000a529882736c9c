// A loaded model: its numbers and its packed weights, as the families' files in arch/ write their equations over them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/ops.h"

namespace kapitsa::model {

struct Config {
  std::string architecture;  // the family's name here: "llama"
  std::string name;          // what the files call the model, may be empty
  int layers = 0;
  int hidden = 0;
  int heads = 0, kv_heads = 0, head_dim = 0;
  int intermediate = 0;      // width of the dense MLP
  int vocabulary = 0;
  int context = 0;           // positions that the model was trained (or scaled) for
  float norm_eps = 1e-6f;
  bool tied = false;         // the head is the embedding
  std::optional<backend::Rope> rope;
};

// A mixture of experts with its shared expert, where it has one (block/moe.h).
struct Moe {
  int experts = 0, used = 0;
  backend::RouteOp::Score score = backend::RouteOp::Score::kSoftmax;
  bool normalise = true;
  float epsilon = 0, scale = 1;
  int groups = 1, used_groups = 1;
  backend::WeightRef router, router_bias;
  backend::WeightRef gate, up, down;            // stacks; gate null: max(up, 0)^2
  backend::WeightRef latent_down, latent_up;    // around the experts
  backend::WeightRef shared_gate, shared_up, shared_down;
  backend::WeightRef shared_switch;             // [1, hidden]: what sigmoid the shared expert counts with
};

// Gated DeltaNet (block/delta_net.h).
struct DeltaNet {
  int key_heads = 0, value_heads = 0, key_dim = 0, value_dim = 0, kernel = 0;
  backend::HeadMap map = backend::HeadMap::kGrouped;
  backend::WeightRef qkv, z, a, b, out;
  backend::WeightRef conv, decay, dt_bias;
  backend::Norm norm;
};

// A Mamba-2 mixer (block/mamba.h).
struct Mamba {
  int heads = 0, head_dim = 0, groups = 0, state_dim = 0, kernel = 0;
  float low = 0, high = 0;  // of the time step
  backend::WeightRef in, out;
  backend::WeightRef conv, conv_bias, decay, dt_bias, d;
  backend::Norm norm;
};

// One layer. A family uses the members that it has; what it does not have stays null.
struct Layer {
  backend::Norm attention_norm;
  backend::WeightRef q, k, v, o;
  backend::WeightRef q_bias, k_bias, v_bias, o_bias;
  std::optional<backend::Norm> q_norm, k_norm;
  backend::WeightRef sinks;
  int window = 0;  // 0: full attention
  bool rope = true;
  std::optional<DeltaNet> delta;  // in the place of attention
  std::optional<Mamba> mamba;
  backend::Norm mlp_norm;
  backend::WeightRef gate, up, down;
  std::optional<Moe> moe;  // in the place of the dense MLP
};

struct Transformer {
  Config config;
  backend::WeightRef embedding;
  std::vector<Layer> layers;
  backend::Norm final_norm;
  backend::WeightRef head;
};

}  // namespace kapitsa::model
