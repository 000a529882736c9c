// Packed integers with float scales.
//   compressed-tensors "pack-quantized": X.weight_packed I32 [N, K*b/32], X.weight_scale [N, K/g], X.weight_shape I64 [N, K];
//     codes are unsigned and stand for themselves less 2^(b-1)
//   4-bit codes in bytes: X.weight U8 [N, K/2], X.scales or X.weight_scale [N, K/g], perhaps X.biases (then w = scale * code +
//     bias). Without biases nothing says whether codes are offset by 8 or in two's complement; the weights' own bell does: near
//     zero are codes around 8 or around 0 and 15.
#include <algorithm>
#include <cstring>

#include "weights/parts.h"
#include "weights/tensor_size.h"

namespace kapitsa::weights {
namespace {

using quant::Planes;

constexpr size_t kSample = 1 << 16;  // bytes that the bell is read from

bool offset_by_half(std::span<const std::byte> codes) {
  size_t middle = 0, edge = 0;
  for (const std::byte b : codes.first(std::min(codes.size(), kSample))) {
    for (const int code : {static_cast<int>(b) & 15, static_cast<int>(b) >> 4}) {
      middle += code >= 7 && code <= 9;
      edge += code <= 1 || code == 15;
    }
  }
  return middle >= edge;
}

Result<std::optional<Joined>> join_words(Parts& parts, const StoredTensor& weight, const StoredTensor& scales) {
  for (const char* part : {"weight_zero_point", "weight_g_idx"}) {
    if (parts.find(part)) return parts.unsupported(fmt::format("has a {}: integers without zero points and in their own order are read", part));
  }
  const StoredTensor* shape = parts.find("weight_shape");
  if (!shape || shape->dtype != "I64" || shape->bytes.size() != 16) return parts.corrupt("weight_shape", "is missing, or not two numbers");
  int64_t sides[2];
  std::memcpy(sides, shape->bytes.data(), sizeof(sides));
  const int64_t words = columns_of(weight);
  if (weight.shape.size() != 2 || sides[0] != weight.shape[0] || sides[1] < 1 || sides[1] > words * 32 / 2) {
    return parts.corrupt("weight_shape", fmt::format("says {} by {}; the codes are {} words", sides[0], sides[1], shape_text(weight.shape)));
  }
  const int64_t bits = words * 32 / sides[1];
  if (bits < 2 || bits > 8 || bits == 7 || sides[1] * bits != words * 32) {
    return parts.unsupported(fmt::format("packs {} weights into {} words; 2 to 6 or 8 bits without gaps are read", sides[1], words));
  }
  Joined joined;
  joined.shape = {sides[0], sides[1]};
  joined.planes.bits = static_cast<int>(bits);
  joined.planes.offset = 1 << (bits - 1);
  joined.planes.columns = sides[1];
  joined.planes.codes = weight.bytes;
  KAPITSA_RETURN_IF_ERROR(set_scales(parts, "weight_scale", scales, 0, joined));
  return std::optional(std::move(joined));
}

}  // namespace

Result<std::optional<Joined>> join_int(Parts& parts) {
  const StoredTensor* packed = parts.find("weight_packed");
  const char* name = "weight_scale";
  const StoredTensor* scales = parts.find(name);
  if (packed && packed->dtype == "I32" && scales && is_float(*scales)) return join_words(parts, *packed, *scales);
  const StoredTensor* weight = parts.find("weight");
  if (!scales) scales = parts.find(name = "scales");
  if (!weight || weight->dtype != "U8" || !scales || !is_float(*scales) || scales->shape.size() < 2) return std::optional<Joined>();
  if (rows_of(*scales) == 2 * rows_of(*weight)) return parts.unsupported("packs two rows a byte (ModelOpt's INT4_AWQ), which this build does not read");
  Joined joined;
  Planes& p = joined.planes;
  joined.shape = weight->shape;
  p.bits = 4;
  p.columns = joined.shape.back() = 2 * columns_of(*weight);
  p.codes = weight->bytes;
  KAPITSA_RETURN_IF_ERROR(set_scales(parts, name, *scales, 0, joined));
  if (const StoredTensor* biases = parts.find("biases")) {
    if (biases->dtype != scales->dtype || biases->shape != scales->shape) {
      return parts.corrupt("biases", fmt::format("is {} {}, the scales are {} {}", biases->dtype, shape_text(biases->shape), scales->dtype, shape_text(scales->shape)));
    }
    p.biases = biases->bytes;
  } else if (offset_by_half(p.codes)) {
    p.offset = 8;
  } else {
    p.code = Planes::Code::kTwosComplement;
  }
  return std::optional(std::move(joined));
}

}  // namespace kapitsa::weights
