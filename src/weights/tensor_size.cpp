#include "weights/tensor_size.h"

#include <fmt/ranges.h>

namespace kapitsa::weights {

std::optional<int64_t> element_count(std::span<const int64_t> shape) {
  int64_t product = 1;
  bool empty = false;
  for (const int64_t axis : shape) {
    if (axis < 0) return std::nullopt;
    if (axis == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(product, axis, &product)) {
      return std::nullopt;
    }
  }
  return empty ? 0 : product;
}

Result<size_t> tensor_bytes(quant::Format format, std::span<const int64_t> shape) {
  const quant::FormatInfo& f = quant::info(format);
  const auto count = element_count(shape);
  if (!count) {
    return error(Code::kCorrupt, "the shape {} holds more elements than 2^63", shape_text(shape));
  }
  const int64_t columns = shape.empty() ? 1 : shape.back();
  if (columns % f.block_elements != 0) {
    return error(Code::kCorrupt, "rows of {} weights do not divide into {} blocks of {}", columns,
                 f.name, f.block_elements);
  }
  size_t bytes = 0;
  if (__builtin_mul_overflow(*count / f.block_elements, f.block_bytes, &bytes)) {
    return error(Code::kCorrupt, "the shape {} takes more bytes than 2^64", shape_text(shape));
  }
  return bytes;
}

std::string shape_text(std::span<const int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

}  // namespace kapitsa::weights
