// MLX: X.weight are U32 words of codes, X.scales one a group. With 8-bit scales it is a 4- or 8-bit float format, which the
// sizes tell; with float scales affine codes of 2 to 8 bits with X.biases, whose bits and groups config.json says, for all
// and for single modules:
//   "quantization": {"group_size": 64, "bits": 4, "model.layers.0.mlp.gate": {"group_size": 64, "bits": 8}}
#include "weights/parts.h"
#include "weights/tensor_size.h"

namespace kapitsa::weights {
namespace {

using quant::Planes;

constexpr int kWordBits = 32;

struct Setting {
  int64_t group = 0, bits = 0;
};

std::optional<Setting> setting_in(const Json& object) {
  if (!object.is_object()) return std::nullopt;
  const auto number = [&](const char* key) -> int64_t {
    return object.contains(key) && object[key].is_number_integer() ? object[key].get<int64_t>() : 0;
  };
  const Setting found{number("group_size"), number("bits")};
  if (found.group == 0 || found.bits == 0) return std::nullopt;
  return found;
}

// A module's own setting, else that of all.
std::optional<Setting> setting_of(const Json& config, const std::string& module) {
  for (const char* key : {"quantization", "quantization_config"}) {
    if (!config.is_object() || !config.contains(key) || !config[key].is_object()) continue;
    const Json& all = config[key];
    if (all.contains(module)) {
      if (const auto own = setting_in(all[module])) return own;
    }
    if (const auto common = setting_in(all)) return common;
  }
  return std::nullopt;
}

Result<std::optional<Joined>> join_float(Parts& parts, const StoredTensor& weight, const StoredTensor& scales) {
  Joined joined;
  Planes& p = joined.planes;
  joined.shape = weight.shape;
  // Words * 32 / scales = bits * group: 64 is NVFP4's, 128 MXFP4's, 256 MXFP8's.
  const int64_t each = columns_of(weight) * kWordBits / columns_of(scales);
  if (each != 64 && each != 128 && each != 256) {
    return parts.corrupt("scales", fmt::format("has the shape {} beside weights of {}; neither NVFP4, MXFP4 nor MXFP8 fits", shape_text(scales.shape),
                                               shape_text(weight.shape)));
  }
  p.code = each == 256 ? Planes::Code::kFp8 : Planes::Code::kFp4;
  p.bits = each == 256 ? 8 : 4;
  p.columns = joined.shape.back() = columns_of(weight) * (kWordBits / p.bits);
  p.codes = weight.bytes;
  KAPITSA_RETURN_IF_ERROR(set_scales(parts, "scales", scales, each / p.bits, joined));
  p.scale = each == 64 ? Planes::Scale::kE4M3 : Planes::Scale::kE8M0;
  return std::optional(std::move(joined));
}

}  // namespace

Result<std::optional<Joined>> join_mlx(Parts& parts) {
  const StoredTensor* weight = parts.find("weight");
  const StoredTensor* scales = parts.find("scales");
  if (!weight || weight->dtype != "U32" || !scales) return std::optional<Joined>();
  if (columns_of(*scales) < 1) return parts.corrupt("scales", "is empty");
  if (scales->dtype == "U8") return join_float(parts, *weight, *scales);
  if (!is_float(*scales)) return parts.corrupt("scales", fmt::format("is {}, floats or U8 were expected", scales->dtype));
  const StoredTensor* biases = parts.find("biases");
  if (!biases || biases->dtype != scales->dtype || biases->shape != scales->shape) {
    return parts.corrupt("biases", fmt::format("is missing, or not {} {} as the scales are", scales->dtype, shape_text(scales->shape)));
  }
  const auto setting = setting_of(parts.config(), parts.base());
  if (!setting) return parts.corrupt("weight", "is quantised, but config.json has no \"quantization\" with bits and group_size");
  const int64_t bits = setting->bits;
  if (bits < 2 || bits > 8 || bits == 7) return parts.unsupported(fmt::format("has {} bits a weight; 2, 3, 4, 5, 6 and 8 are read", bits));
  Joined joined;
  joined.shape = weight->shape;
  joined.shape.back() = columns_of(*weight) * kWordBits / bits;
  if (joined.shape.back() * bits != columns_of(*weight) * kWordBits) {
    return parts.corrupt("weight", fmt::format("has rows of {} words, no whole number of {}-bit weights", columns_of(*weight), bits));
  }
  joined.planes.bits = static_cast<int>(bits);
  joined.planes.columns = joined.shape.back();
  joined.planes.codes = weight->bytes;
  KAPITSA_RETURN_IF_ERROR(set_scales(parts, "scales", *scales, setting->group, joined));
  joined.planes.biases = biases->bytes;
  return std::optional(std::move(joined));
}

}  // namespace kapitsa::weights
