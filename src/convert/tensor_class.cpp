#include "convert/tensor_class.h"

#include <charconv>

namespace kapitsa::convert {

using model::GgufTensor;

int layer_of(std::string_view name) {
  if (!name.starts_with("blk.")) return -1;
  int layer = -1;
  std::from_chars(name.data() + 4, name.data() + name.size(), layer);
  return layer;
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
