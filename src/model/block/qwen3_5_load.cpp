#include "model/block/qwen3_5_load.h"

#include "model/block/delta_net.h"
#include "model/block/dense_load.h"

namespace kapitsa::model {
namespace {

// Hugging Face stores a norm's weight less one. GGUF and MLX files have it whole; an MLX file is known by its convolutions,
// whose axis of one is the last.
float norm_offset(const Loader& l) {
  if (l.gguf()) return 0;
  for (const auto& [name, tensor] : l.checkpoint().tensors()) {
    if (name.ends_with("linear_attn.conv1d.weight")) return tensor.shape.back() == 1 ? 0.0f : 1.0f;
  }
  return 1;
}

// Text has one position; a GGUF names the channels of an image's three all the same.
void say_sections(Loader& l) {
  std::vector<int64_t> sections = {11, 11, 10};
  if (const Json& config = l.config(); config.is_object() && config.contains("rope_parameters")) {
    const Json& rope = config["rope_parameters"];
    if (rope.is_object() && rope.contains("mrope_section") && rope["mrope_section"].is_array() && rope["mrope_section"].size() == 3) {
      for (size_t i = 0; i < 3; ++i) {
        if (rope["mrope_section"][i].is_number_integer()) sections[i] = rope["mrope_section"][i].get<int64_t>();
      }
    }
  }
  sections.push_back(0);
  l.say("{arch}.rope.dimension_sections", std::move(sections));
}

}  // namespace

void load_qwen3_5(Loader& l, Transformer& m, const std::function<void(const Prefix&, Layer&)>& mlp) {
  load_dense_config(l, m.config, 10000000, backend::RopePairs::kHalves);
  leave_drafts(l, m.config);
  for (const char* part : {"mtp.", "model.mtp.", "language_model.mtp.", "model.visual.", "visual.", "vision_tower."}) l.ignore_prefix(part);
  say_sections(l);
  const DeltaNet net = load_delta_net_config(l);
  const float offset = norm_offset(l);
  load_ends(l, m, offset);
  for (int i = 0; i < m.config.layers && l.status().ok(); ++i) {
    Layer& layer = m.layers.emplace_back();
    const Prefix prefix = layer_prefix(l, i);
    load_norms(l, m.config, prefix, layer, offset, "post_attention_norm.weight");
    if (l.has(prefix("linear_attn.conv1d.weight", "ssm_conv1d.weight"))) {
      load_delta_net(l, m.config, prefix, layer.delta.emplace(net));
    } else {
      load_attention(l, m.config, prefix, layer, 2);
      load_head_norms(l, m.config, prefix, layer, offset);
    }
    mlp(prefix, layer);
  }
}

}  // namespace kapitsa::model
