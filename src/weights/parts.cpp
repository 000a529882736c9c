#include "weights/parts.h"

#include <cstring>

#include "quant/half.h"
#include "weights/printable.h"
#include "weights/tensor_size.h"

namespace kapitsa::weights {

using Scale = quant::Planes::Scale;

const StoredTensor* Parts::find(std::string_view suffix) {
  const auto it = all_.find(base_ + "." + std::string(suffix));
  if (it == all_.end()) return nullptr;
  used_.insert(it->first);
  return &it->second.stored;
}

Status Parts::corrupt(std::string_view suffix, std::string what) const {
  return error(Code::kCorrupt, "the tensor '{}.{}' {}", printable(base_), suffix, what);
}

Status Parts::unsupported(std::string what) const { return error(Code::kUnsupported, "'{}' {}", printable(base_), what); }

std::optional<Scale> scale_type(std::string_view dtype) {
  if (dtype == "F32") return Scale::kF32;
  if (dtype == "F16") return Scale::kF16;
  if (dtype == "BF16") return Scale::kBF16;
  if (dtype == "F8_E4M3") return Scale::kE4M3;
  if (dtype == "U8" || dtype == "F8_E8M0") return Scale::kE8M0;
  return std::nullopt;
}

bool is_float(const StoredTensor& tensor) { return format_of(tensor.dtype).has_value(); }

std::optional<double> single_value(const StoredTensor& tensor) {
  const auto format = format_of(tensor.dtype);
  if (!format || element_count(tensor.shape) != 1) return std::nullopt;
  float value = 0;
  quant::decode_row(*format, tensor.bytes.data(), 1, &value);
  return value;
}

int64_t rows_of(const StoredTensor& tensor) {
  const int64_t columns = columns_of(tensor);
  return columns > 0 ? element_count(tensor.shape).value_or(0) / columns : 0;
}

int64_t columns_of(const StoredTensor& tensor) { return tensor.shape.empty() ? 1 : tensor.shape.back(); }

Status set_scales(Parts& parts, std::string_view suffix, const StoredTensor& scales, int64_t group, Joined& joined) {
  std::vector<int64_t> expected = joined.shape;
  const int64_t columns = expected.back(), groups = columns_of(scales);
  if (group == 0) group = groups > 0 && columns % groups == 0 ? columns / groups : 0;
  if (group == 0 || columns % group != 0) {
    return parts.corrupt(suffix, fmt::format("has the shape {}; {} columns in whole groups were expected", shape_text(scales.shape), columns));
  }
  expected.back() = columns / group;
  if (scales.shape != expected) {
    return parts.corrupt(suffix, fmt::format("has the shape {}; {} was expected for {} columns in groups of {}", shape_text(scales.shape),
                                             shape_text(expected), columns, group));
  }
  joined.planes.group = group;
  joined.planes.scales = scales.bytes;
  joined.planes.scale = *scale_type(scales.dtype);
  return {};
}

}  // namespace kapitsa::weights
