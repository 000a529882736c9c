// Names that Qwen3.5's dense and expert models share, in Hugging Face (text-only and beside a vision tower), MLX and GGUF files.
#pragma once

#include "model/loader.h"
#include "model/transformer.h"

namespace kapitsa::model {

// Everything but the second half of the layers, which `mlp` loads.
void load_qwen3_5(Loader& loader, Transformer& model, const std::function<void(const Prefix& prefix, Layer&)>& mlp);

}  // namespace kapitsa::model
