// The types that `kapitsa quantize --type` takes, and which bits each class of tensors gets under one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "convert/tensor_class.h"
#include "quant/format.h"

namespace kapitsa::convert {

// MLX's affine codes: what a tensor of an MLX folder is stored as.
struct MlxBits {
  int bits = 0;  // 0: kept in 16 bits
  int group = 64;
  bool operator==(const MlxBits&) const = default;
};

struct Recipe {
  std::string name;        // "Q4_K_M", "mlx-4"
  bool mlx = false;
  // GGUF: what most matrices get, and what the sensitive ones do.
  quant::Format base = quant::Format::f16;
  quant::Format better = quant::Format::f16;
  int bits = 0;            // MLX
};

// Errors: kInvalid, with the names that there are.
Result<Recipe> find_recipe(std::string_view name);
std::vector<std::string> recipe_names();

// A choice of the user's: tensors whose GGUF name contains `part` get `format` (or `bits`).
struct Override {
  std::string part;
  std::optional<quant::Format> format;
  std::optional<int> bits;
};

struct PlanOptions {
  Recipe recipe;
  int group = 64;       // MLX
  bool pure = false;    // no class is protected but vectors and routers
  std::vector<Override> overrides;
};

// The GGUF format of a tensor of `layers` layers' model. Rows that the format's blocks do not divide get the nearest one whose
// blocks do.
quant::Format gguf_format(const PlanOptions& options, const model::GgufTensor& tensor, TensorClass kind, int layers);
MlxBits mlx_bits(const PlanOptions& options, const model::GgufTensor& tensor, TensorClass kind);

}  // namespace kapitsa::convert
