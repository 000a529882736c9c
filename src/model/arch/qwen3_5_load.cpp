// Qwen3.5's names.
#include "model/architecture.h"
#include "model/block/dense_load.h"
#include "model/block/qwen3_5_load.h"

namespace kapitsa::model {

void qwen3_5_forward(const Transformer& model, backend::Graph& graph);

static void load(Loader& l, Transformer& m) {
  load_qwen3_5(l, m, [&](const Prefix& prefix, Layer& layer) { load_mlp(l, m.config, prefix, layer); });
}

extern const Architecture qwen3_5_architecture;
const Architecture qwen3_5_architecture = {"qwen3_5", {"qwen3_5", "qwen3_5_text"}, {"qwen35"}, load, qwen3_5_forward};

}  // namespace kapitsa::model
