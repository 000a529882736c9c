// Flint's names in Hugging Face and GGUF files.
#include <algorithm>

#include "model/architecture.h"
#include "model/block/dense_load.h"
#include "model/block/moe_load.h"
#include "model/block/window.h"

namespace kapitsa::model {

void flint_forward(const Transformer& model, backend::Graph& graph);

namespace {

// Layers without positions: listed, or those that see everything.
bool has_rope(Loader& l, int layer, int window) {
  if (const auto* turned = l.flags("{arch}.attention.rope_pattern"); l.gguf() && turned && static_cast<size_t>(layer) < turned->size()) {
    return (*turned)[static_cast<size_t>(layer)];
  }
  const Json& config = l.config();
  if (!config.is_object() || !config.contains("no_rope_layer_indices")) return window > 0;
  const Json& list = config["no_rope_layer_indices"];
  return !list.is_array() || std::find(list.begin(), list.end(), Json(layer)) == list.end();
}

void load(Loader& l, Transformer& m) {
  load_dense_config(l, m.config, 10000, backend::RopePairs::kHalves);
  Moe moe = load_moe_config(l);
  moe.score = backend::RouteOp::Score::kSigmoid;
  load_ends(l, m);
  for (int i = 0; i < m.config.layers && l.status().ok(); ++i) {
    Layer& layer = m.layers.emplace_back();
    const Prefix prefix = layer_prefix(l, i);
    load_norms(l, m.config, prefix, layer);
    load_attention(l, m.config, prefix, layer);
    load_head_norms(l, m.config, prefix, layer);
    layer.sinks = l.vector(prefix("self_attn.softmax_offset", "attn_sinks.weight"), m.config.heads);
    layer.window = layer_window(l, i);
    layer.rope = has_rope(l, i, layer.window);
    const Prefix mlp = prefix.in("mlp.");
    if (l.has(router_name(mlp))) load_moe(l, m.config, mlp, true, layer.moe.emplace(moe));
    else load_mlp(l, m.config, prefix, layer);
  }
}

}  // namespace

extern const Architecture flint_architecture;
const Architecture flint_architecture = {"flint", {"flint"}, {"flint"}, load, flint_forward};

}  // namespace kapitsa::model
