// Llama's names in Hugging Face and GGUF files. A GGUF's q and k rows were reordered by its converter so that RoPE pairs
// neighbouring channels.
#include "model/architecture.h"
#include "model/block/dense_load.h"

namespace kapitsa::model {

void llama_forward(const Transformer& model, backend::Graph& graph);

static void load(Loader& l, Transformer& m) {
  load_dense_config(l, m.config, 10000, backend::RopePairs::kNeighbours);
  load_ends(l, m);
  for (int i = 0; i < m.config.layers && l.status().ok(); ++i) {
    Layer& layer = m.layers.emplace_back();
    const Prefix prefix = layer_prefix(l, i);
    load_norms(l, m.config, prefix, layer);
    load_attention(l, m.config, prefix, layer, 1, backend::RopePairs::kNeighbours);
    load_mlp(l, m.config, prefix, layer);
  }
}

extern const Architecture llama_architecture;
const Architecture llama_architecture = {"llama", {"llama"}, {"llama"}, load, llama_forward};

}  // namespace kapitsa::model
