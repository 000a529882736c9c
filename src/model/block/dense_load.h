// Numbers and names that the dense Llama-like families share, in both containers.
#pragma once

#include "model/loader.h"
#include "model/transformer.h"

namespace kapitsa::model {

// Fills config; rope too, with the family's own default base. A family whose layers have experts may have no dense width: 0.
void load_dense_config(Loader& loader, Config& config, double default_theta, backend::RopePairs gguf_pairs);
// Layers (0 where the file does not count them), widths, context, epsilon: what every family has.
void load_common_config(Loader& loader, Config& config);

// Draft heads come behind the trunk in a GGUF, and are counted as layers: takes them out of the count, and leaves their tensors.
void leave_drafts(Loader& loader, Config& config);

Prefix layer_prefix(const Loader& loader, int layer);

// Embedding, final norm (its weight plus `offset`) and head.
void load_ends(Loader& loader, Transformer& model, float offset = 0);
// q (of `q_parts` times the heads' width: 2 with a gate), k, v, o with whatever biases the file has. Where a GGUF's RoPE
// turns neighbours, its q and k have their rows in that order.
void load_attention(Loader& loader, const Config& config, const Prefix& p, Layer& layer, int q_parts = 1,
                    backend::RopePairs gguf_pairs = backend::RopePairs::kHalves);
// The norms of each head of q and k.
void load_head_norms(Loader& loader, const Config& config, const Prefix& p, Layer& layer, float offset = 0);
// The norms before both halves of a layer. `gguf_post`: what a GGUF of the family calls the second.
void load_norms(Loader& loader, const Config& config, const Prefix& p, Layer& layer, float offset = 0,
                const char* gguf_post = "ffn_norm.weight");
// gate, up, down
void load_mlp(Loader& loader, const Config& config, const Prefix& p, Layer& layer);

}  // namespace kapitsa::model
