#include "convert/form.h"

#include "model/model.h"

namespace kapitsa::convert {
namespace {

using model::GgufTensor;

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> ends) {
  for (const std::string_view end : ends) {
    if (name.ends_with(end)) return true;
  }
  return false;
}

GgufTensor::Kind kind_of(const weights::Tensor& t) {
  using Kind = GgufTensor::Kind;
  const std::string_view name = t.name;
  if (t.shape.size() < 2 || ends_with_any(name, {"ssm_conv1d.weight", "ssm_norm.weight", "ssm_a", "ssm_d", ".bias"})) return Kind::kVector;
  if (name.find("ffn_gate_inp") != name.npos) return Kind::kExact;
  return name == "token_embd.weight" ? Kind::kEmbedding : Kind::kMatrix;
}

// A factor or an activation's range beside a matrix: goes with the matrix, or is of no use.
bool is_side_tensor(std::string_view name) { return ends_with_any(name, {".scale", ".input_scale"}); }

GgufTensor as_it_is(const weights::Tensor& t) {
  GgufTensor out;
  out.name = out.mlx = t.name;
  out.kind = kind_of(t);
  out.shape = t.shape;
  const int64_t matrix_rows = t.shape.size() > 2 ? t.shape[t.shape.size() - 2] : t.rows();
  const int64_t matrices = out.kind == GgufTensor::Kind::kVector || matrix_rows == 0 ? 1 : t.rows() / matrix_rows;
  for (int64_t m = 0; m < matrices; ++m) out.pieces.push_back({t.name, m, 0, matrix_rows});
  return out;
}

}  // namespace

Result<model::GgufForm> form_of(const weights::Checkpoint& checkpoint) {
  if (checkpoint.container != weights::Container::gguf) return model::gguf_form(checkpoint);
  model::GgufForm form;
  form.architecture = model::declared_architecture(checkpoint);
  if (form.architecture.empty()) return error(Code::kCorrupt, "{}: has no general.architecture", checkpoint.path);
  for (const auto& [key, value] : checkpoint.metadata) {
    // How the file was laid out and quantised is said anew.
    if (key.starts_with("split.") || key.starts_with("quantize.") || key == "general.alignment" || key == "general.file_type" ||
        key == "general.quantization_version") {
      continue;
    }
    form.metadata.set(key, value);
  }
  for (const auto& [name, tensor] : checkpoint.tensors()) {
    if (!is_side_tensor(name)) form.tensors.push_back(as_it_is(tensor));
  }
  if (!checkpoint.unread().empty()) {
    const auto& [name, type] = *checkpoint.unread().begin();
    return error(Code::kUnsupported, "{}: the tensor '{}' is stored as {}, which this build does not read", checkpoint.path, name, type);
  }
  return form;
}

}  // namespace kapitsa::convert
