// Qwen3-MoE's names in Hugging Face, MLX and GGUF files.
#include "model/architecture.h"
#include "model/block/dense_load.h"
#include "model/block/moe_load.h"
#include "model/block/window.h"

namespace kapitsa::model {

void qwen3_moe_forward(const Transformer& model, backend::Graph& graph);

static void load(Loader& l, Transformer& m) {
  load_dense_config(l, m.config, 1000000, backend::RopePairs::kHalves);
  Moe moe = load_moe_config(l);
  // What the library takes where a config does not say it.
  if (!l.gguf()) moe.normalise = l.maybe_flag("norm_topk_prob").value_or(false);
  load_ends(l, m);
  for (int i = 0; i < m.config.layers && l.status().ok(); ++i) {
    Layer& layer = m.layers.emplace_back();
    const Prefix prefix = layer_prefix(l, i);
    load_norms(l, m.config, prefix, layer);
    load_attention(l, m.config, prefix, layer);
    load_head_norms(l, m.config, prefix, layer);
    layer.window = layer_window(l, i);
    const Prefix mlp = prefix.in("mlp.");
    if (l.has(router_name(mlp))) load_moe(l, m.config, mlp, true, layer.moe.emplace(moe));
    else load_mlp(l, m.config, prefix, layer);
  }
}

extern const Architecture qwen3_moe_architecture;
const Architecture qwen3_moe_architecture = {"qwen3_moe", {"qwen3_moe"}, {"qwen3moe"}, load, qwen3_moe_forward};

}  // namespace kapitsa::model
