// Writes small safetensors files: logits and other results for people and tests to compare.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/status.h"

namespace kapitsa::weights {

struct TensorToWrite {
  std::string name;
  std::vector<int64_t> shape;  // row-major; its product must be the number of values
  std::variant<std::span<const float>, std::span<const int32_t>> values;  // F32 or I32
};

// Writes `tensors` to `path`, whole or not at all: into a temporary file beside it that is renamed
// when it is complete. Errors: kInvalid (a repeated name, a shape that contradicts its values, a
// path that is not a regular file's), kUnavailable or kExhausted from the file system.
Status write_safetensors(const std::string& path, std::span<const TensorToWrite> tensors);

}  // namespace kapitsa::weights
