// Fields that ask for a way of sampling, common to the protocols.
#pragma once

#include "api/params.h"
#include "engine/engine.h"

namespace kapitsa::api {

// temperature, top_p, top_k, min_p, the penalties, logit_bias, seed: over the model's own defaults.
engine::Sampling read_sampling(Params& params, const engine::Engine& engine);

}  // namespace kapitsa::api
