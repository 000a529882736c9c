#include "weights/join.h"

#include <algorithm>
#include <array>

#include "weights/printable.h"

namespace kapitsa::weights {
namespace {

constexpr std::array<Convention*, 4> kConventions = {join_mlx, join_fp4, join_fp8, join_int};

// Scales of activations and of a KV cache in 8 bits.
constexpr std::string_view kUnneeded[] = {"input_scale", "input_global_scale", "weight_shape", "k_scale", "v_scale", "q_scale"};

bool is_axis_count(int64_t n) { return n > 0; }

// "X" of "X.weight", and of the names that its codes have elsewhere.
std::string base_of(std::string_view name) {
  for (const std::string_view suffix : {".weight_packed", ".weight"}) {
    if (name.ends_with(suffix)) return std::string(name.substr(0, name.size() - suffix.size()));
  }
  return "";
}

Status check_foreign(const RawTensors& raw) {
  for (const auto& [name, tensor] : raw) {
    for (const std::string_view suffix : {".qweight", ".quant_map", ".weight.quant_state.bitsandbytes__nf4", ".weight.absmax"}) {
      if (!std::string_view(name).ends_with(suffix)) continue;
      return error(Code::kUnsupported,
                   "the tensor '{}' is of GPTQ, AWQ or bitsandbytes, which this build does not read; MLX, FP8, NVFP4, MXFP4 and "
                   "compressed-tensors are read",
                   printable(name));
    }
  }
  return {};
}

}  // namespace

Status join_parts(RawTensors& raw, Checkpoint& out) {
  KAPITSA_RETURN_IF_ERROR(check_foreign(raw));
  std::set<std::string> joined_names;
  std::vector<Tensor> tensors;
  for (const auto& [name, tensor] : raw) {
    // Plain floats have no parts; an axis of nothing is for others to complain about.
    const std::string base = base_of(name);
    if (base.empty() || is_float(tensor.stored) || tensor.stored.shape.empty()) continue;
    if (!std::all_of(tensor.stored.shape.begin(), tensor.stored.shape.end(), is_axis_count)) continue;
    for (Convention* convention : kConventions) {
      Parts parts(raw, base, out.config);
      KAPITSA_ASSIGN(std::optional<Joined> joined, convention(parts));
      if (!joined) continue;
      Tensor whole{base + ".weight", quant::Format::planes, std::move(joined->shape), joined->planes.codes, tensor.file, nullptr};
      whole.planes = std::make_shared<const quant::Planes>(joined->planes);
      tensors.push_back(std::move(whole));
      joined_names.insert(parts.used().begin(), parts.used().end());
      for (const std::string_view suffix : kUnneeded) joined_names.insert(base + "." + std::string(suffix));
      break;
    }
  }
  for (const std::string& name : joined_names) raw.erase(name);
  for (Tensor& tensor : tensors) KAPITSA_RETURN_IF_ERROR(out.add(std::move(tensor)));
  // An FP8 cache's scales stand beside projections that may be plain.
  std::erase_if(raw, [](const auto& one) {
    return one.first.ends_with("_proj.k_scale") || one.first.ends_with("_proj.v_scale");
  });
  return {};
}

}  // namespace kapitsa::weights
