// 4-bit floats (E2M1), two a byte, the even column in the low bits.
//   ModelOpt            X.weight         U8 [N, K/2]   X.weight_scale  X.weight_scale_2       multiplies
//   compressed-tensors  X.weight_packed  U8 [N, K/2]   X.weight_scale  X.weight_global_scale  divides
// The type of weight_scale says which: F8_E4M3 [N, K/16] is NVFP4, U8 [N, K/32] powers of two, MXFP4.
#include <cmath>

#include "weights/parts.h"

namespace kapitsa::weights {

using quant::Planes;

Result<std::optional<Joined>> join_fp4(Parts& parts) {
  const StoredTensor* weight = parts.find("weight_packed");
  if (!weight) weight = parts.find("weight");
  const StoredTensor* scales = parts.find("weight_scale");
  if (!weight || weight->dtype != "U8" || !scales || scales->shape.size() < 2 || is_float(*scales)) return std::optional<Joined>();
  const auto type = scale_type(scales->dtype);
  if (!type) return parts.unsupported(fmt::format("has scales of type {}; F8_E4M3 and U8 are read", scales->dtype));
  if (parts.find("pre_quant_scale")) return parts.unsupported("wants its inputs scaled before the product (AWQ, SVDQuant), which this build does not do");
  Joined joined;
  Planes& p = joined.planes;
  joined.shape = weight->shape;
  p.code = Planes::Code::kFp4;
  p.bits = 4;
  p.columns = joined.shape.back() = 2 * columns_of(*weight);
  p.codes = weight->bytes;
  KAPITSA_RETURN_IF_ERROR(set_scales(parts, "weight_scale", *scales, *type == Planes::Scale::kE4M3 ? 16 : 32, joined));
  struct {
    const char* name;
    bool divides;
  } const factors[] = {{"weight_scale_2", false}, {"weight_global_scale", true}};
  for (const auto& [name, divides] : factors) {
    const StoredTensor* factor = parts.find(name);
    if (!factor) continue;
    const auto value = single_value(*factor);
    if (!value || !std::isfinite(*value) || *value == 0) return parts.corrupt(name, "is not one finite number other than 0");
    p.factor = divides ? 1 / *value : *value;
  }
  return std::optional(std::move(joined));
}

}  // namespace kapitsa::weights
