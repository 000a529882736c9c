// How many bytes a tensor takes, without overflow: every size from a file passes here first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/status.h"
#include "quant/format.h"

namespace kapitsa::weights {

// The product of `shape` (1 for a scalar); nothing where an axis is negative or the product is
// beyond int64. An axis of 0 makes 0, but the other axes must still multiply without overflow.
std::optional<int64_t> element_count(std::span<const int64_t> shape);

// Bytes of a tensor stored in `format`; an error where the last axis is no multiple of the format's
// block or the size overflows.
Result<size_t> tensor_bytes(quant::Format format, std::span<const int64_t> shape);

// "[2, 3]", for messages.
std::string shape_text(std::span<const int64_t> shape);

}  // namespace kapitsa::weights
