// Qwen3.5-MoE's names.
#include "model/architecture.h"
#include "model/block/moe_load.h"
#include "model/block/qwen3_5_load.h"

namespace kapitsa::model {

void qwen3_5_moe_forward(const Transformer& model, backend::Graph& graph);

static void load(Loader& l, Transformer& m) {
  const Moe moe = load_moe_config(l);
  load_qwen3_5(l, m, [&](const Prefix& prefix, Layer& layer) {
    load_moe(l, m.config, prefix.in("mlp."), true, layer.moe.emplace(moe));
  });
}

extern const Architecture qwen3_5_moe_architecture;
const Architecture qwen3_5_moe_architecture = {"qwen3_5_moe", {"qwen3_5_moe", "qwen3_5_moe_text"}, {"qwen35moe"}, load, qwen3_5_moe_forward};

}  // namespace kapitsa::model
