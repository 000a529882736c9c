// Rotary position embeddings (Su et al. 2021) and their scalings, as checkpoints describe them.
#pragma once

#include "backend/ops.h"
#include "model/loader.h"

namespace kapitsa::model {

struct RopeScaling {
  enum class Kind { kNone, kLinear, kLlama3, kYarn } kind = Kind::kNone;
  double factor = 1;
  double original_context = 0;
  // llama3
  double low_frequency_factor = 1, high_frequency_factor = 4;
  // YaRN (Peng et al. 2023)
  double beta_fast = 32, beta_slow = 1;
  double attention_factor = 0;  // 0: from the factor
};

// The frequencies of `channels` rotated channels (an even number).
backend::Rope make_rope(double theta, int channels, const RopeScaling& scaling, backend::RopePairs pairs);

// What the checkpoint says: rope_parameters, rope_scaling and rope_theta of a config.json; {arch}.rope.* and the tensor
// rope_freqs.weight (llama3's factors, already worked out) of a GGUF. Faults are kept in the loader.
backend::Rope load_rope(Loader& loader, int channels, int context, double default_theta, backend::RopePairs pairs);

}  // namespace kapitsa::model
