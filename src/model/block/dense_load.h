// Numbers and names that the dense Llama-like families share, in both containers.
#pragma once

#include "model/loader.h"
#include "model/transformer.h"

namespace kapitsa::model {

// Fills config; rope too, with the family's own default base.
void load_dense_config(Loader& loader, Config& config, double default_theta, backend::RopePairs gguf_pairs);

// "model.layers.3." or "blk.3."
std::string layer_prefix(const Loader& loader, int layer);

// Embedding, final norm and head.
void load_ends(Loader& loader, Transformer& model);
// q, k, v, o with whatever biases the file has, and both norms of a layer.
void load_attention(Loader& loader, const Config& config, const std::string& prefix, Layer& layer);
// gate, up, down
void load_mlp(Loader& loader, const Config& config, const std::string& prefix, Layer& layer);

}  // namespace kapitsa::model
