// Qwen3's names in Hugging Face and GGUF files.
#include "model/architecture.h"
#include "model/block/dense_load.h"
#include "model/block/window.h"

namespace kapitsa::model {

void qwen3_forward(const Transformer& model, backend::Graph& graph);

static void load(Loader& l, Transformer& m) {
  load_dense_config(l, m.config, 1000000, backend::RopePairs::kHalves);
  load_ends(l, m);
  for (int i = 0; i < m.config.layers && l.status().ok(); ++i) {
    Layer& layer = m.layers.emplace_back();
    const Prefix prefix = layer_prefix(l, i);
    load_norms(l, m.config, prefix, layer);
    load_attention(l, m.config, prefix, layer);
    load_head_norms(l, m.config, prefix, layer);
    layer.window = layer_window(l, i);
    load_mlp(l, m.config, prefix, layer);
  }
}

extern const Architecture qwen3_architecture;
const Architecture qwen3_architecture = {"qwen3", {"qwen3"}, {"qwen3"}, load, qwen3_forward};

}  // namespace kapitsa::model
