// 8-bit floats (E4M3), X.weight F8_E4M3 [N, K], with scales
//   X.weight_scale      float, one number    a tensor      (ModelOpt, compressed-tensors)
//                       float [N] or [N, 1]  a row
//                       float [N/b, K/b]     a block       (compressed-tensors)
//                       U8 [N, K/32]         MXFP8: powers of two
//   X.weight_scale_inv  float [N/128, K/128] a block; it multiplies, whatever its name says   (the models' makers)
#include "weights/parts.h"
#include "weights/tensor_size.h"

namespace kapitsa::weights {
namespace {

using quant::Planes;

// The sides of a block; config.json may say others than 128.
std::pair<int64_t, int64_t> block_of(const Json& config) {
  for (const char* key : {"quantization_config", "quantization"}) {
    if (!config.is_object() || !config.contains(key) || !config[key].is_object() || !config[key].contains("weight_block_size")) continue;
    const Json& sides = config[key]["weight_block_size"];
    if (!sides.is_array() || sides.size() != 2 || !sides[0].is_number_integer() || !sides[1].is_number_integer()) continue;
    const auto rows = sides[0].get<int64_t>(), columns = sides[1].get<int64_t>();
    if (rows > 0 && columns > 0) return {rows, columns};
  }
  return {128, 128};
}

}  // namespace

Result<std::optional<Joined>> join_fp8(Parts& parts) {
  const StoredTensor* weight = parts.find("weight");
  if (!weight || weight->dtype != "F8_E4M3" || weight->shape.size() < 2) return std::optional<Joined>();
  const char* name = "weight_scale_inv";
  const StoredTensor* scales = parts.find(name);
  if (!scales) scales = parts.find(name = "weight_scale");
  Joined joined;
  Planes& p = joined.planes;
  joined.shape = weight->shape;
  p.code = Planes::Code::kFp8;
  p.columns = p.group = columns_of(*weight);
  p.codes = weight->bytes;
  if (!scales) return std::optional(std::move(joined));
  if (const auto value = single_value(*scales)) {
    p.factor = *value;
    return std::optional(std::move(joined));
  }
  const auto type = scale_type(scales->dtype);
  if (!type || *type == Planes::Scale::kE4M3) return parts.unsupported(fmt::format("has scales of type {}; floats and U8 are read", scales->dtype));
  if (*type == Planes::Scale::kE8M0) {
    KAPITSA_RETURN_IF_ERROR(set_scales(parts, name, *scales, 32, joined));
    return std::optional(std::move(joined));
  }
  p.scale = *type;
  p.scales = scales->bytes;
  const int64_t rows = weight->shape[weight->shape.size() - 2], stack = rows_of(*weight) / rows;
  const int64_t count = element_count(scales->shape).value_or(0);
  if (count == stack * rows && (scales->shape.size() < 2 || scales->shape.back() == 1)) return std::optional(std::move(joined));
  const auto [block_rows, block_columns] = block_of(parts.config());
  p.scale_rows = block_rows;
  p.group = block_columns;
  if (count != stack * p.scale_count(rows) * p.groups()) {
    return parts.corrupt(name, fmt::format("has the shape {}; the weight's {} in blocks of {} by {} ask for {} by {} numbers", shape_text(scales->shape),
                                           shape_text(weight->shape), block_rows, block_columns, stack * p.scale_count(rows), p.groups()));
  }
  return std::optional(std::move(joined));
}

}  // namespace kapitsa::weights
