// Joins the parts of quantised matrices in a safetensors checkpoint: what a library stores as codes, scales and biases beside
// each other becomes one tensor "X.weight". Which convention holds is read from the tensors' types, not from what a config
// claims; only the group size of MLX's integers stands nowhere else.
#pragma once

#include "base/json.h"
#include "base/status.h"
#include "weights/checkpoint.h"
#include "weights/parts.h"

namespace kapitsa::weights {

// Moves the parts that belong together from `raw` to `out`. What only serves quantised activations or a quantised KV cache is
// taken out and left: neither is here. Errors: kCorrupt (parts that contradict each other), kUnsupported (a known convention that
// is not read).
Status join_parts(RawTensors& raw, Checkpoint& out);

}  // namespace kapitsa::weights
