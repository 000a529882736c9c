#include "convert/tensor_class.h"

#include <algorithm>
#include <charconv>

namespace kapitsa::convert {

using model::GgufTensor;

int layer_of(std::string_view name) {
  if (!name.starts_with("blk.")) return -1;
  int layer = -1;
  std::from_chars(name.data() + 4, name.data() + name.size(), layer);
  return layer;
}

bool takes_factor(std::string_view name) {
  constexpr std::string_view kParts[] = {"attn_q",        "attn_k",         "attn_v",        "attn_output",   "attn_qkv",  "attn_gate",
                                         "ffn_gate",      "ffn_up",         "ffn_down",      "ffn_gate_exps", "ffn_up_exps", "ffn_down_exps",
                                         "ffn_gate_shexp", "ffn_up_shexp",  "ffn_down_shexp", "ssm_in",       "ssm_out",   "ssm_alpha",
                                         "ssm_beta"};
  constexpr std::string_view kWeight = ".weight";
  if (name == "output.weight") return true;
  if (layer_of(name) < 0 || !name.ends_with(kWeight)) return false;
  name = name.substr(name.find('.', 4) + 1);
  name.remove_suffix(kWeight.size());
  return std::find(std::begin(kParts), std::end(kParts), name) != std::end(kParts);
}

TensorClass class_of(const GgufTensor& tensor, bool tied) {
  const std::string_view name = tensor.name;
  const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
  if (tensor.kind == GgufTensor::Kind::kVector) return TensorClass::kVector;
  if (tensor.kind == GgufTensor::Kind::kExact) return TensorClass::kRouter;
  if (name == "token_embd.weight") return tied ? TensorClass::kHead : TensorClass::kEmbedding;
  if (name == "output.weight") return TensorClass::kHead;
  if (has("_shexp.")) return TensorClass::kSharedExpert;
  if (has("ssm_alpha.") || has("ssm_beta.")) return TensorClass::kGate;
  if (has("attn_v.")) return TensorClass::kAttentionValue;
  if (has("ffn_down")) return TensorClass::kDown;
  return TensorClass::kOther;
}

}  // namespace kapitsa::convert
