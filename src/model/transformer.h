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

// One layer. A family uses the members that it has; what it does not have stays null.
struct Layer {
  backend::Norm attention_norm;
  backend::WeightRef q, k, v, o;
  backend::WeightRef q_bias, k_bias, v_bias, o_bias;
  std::optional<backend::Norm> q_norm, k_norm;
  int window = 0;  // 0: full attention
  backend::Norm mlp_norm;
  backend::WeightRef gate, up, down;
};

struct Transformer {
  Config config;
  backend::WeightRef embedding;
  std::vector<Layer> layers;
  backend::Norm final_norm;
  backend::WeightRef head;
};

}  // namespace kapitsa::model
