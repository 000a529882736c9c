// Writes safetensors files: logits and other results for people and tests to compare, and checkpoints.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/status.h"
#include "weights/tensor_file.h"

namespace kapitsa::weights {

struct SafetensorsTensor {
  std::string name;
  std::string dtype;           // "F32", "BF16", "U32", "F8_E4M3", ...
  std::vector<int64_t> shape;  // row-major
};

// Header and places of a file with these tensors, in this order. Errors: kInvalid (a name twice, a dtype that is not of the
// specification, a size beyond 2^60).
Result<FileLayout> safetensors_layout(std::span<const SafetensorsTensor> tensors,
                                      const std::map<std::string, std::string>& metadata = {});

struct TensorToWrite {
  std::string name;
  std::vector<int64_t> shape;  // row-major; its product must be the number of values
  std::variant<std::span<const float>, std::span<const int32_t>> values;  // F32 or I32
};

// Writes `tensors` to `path`, whole or not at all: into a temporary file beside it that is renamed
// when it is complete. Errors: kInvalid (a repeated name, a shape that contradicts its values, a
// path that is not a regular file's), kUnavailable or kExhausted from the file system.
Status write_safetensors(const std::string& path, std::span<const TensorToWrite> tensors);

// The same for tensors of numbers that come piece by piece and need not fit in memory.
class SafetensorsWriter {
 public:
  enum class Type { kF32, kI32 };
  struct Declared {
    std::string name;
    std::vector<int64_t> shape;  // row-major
    Type type = Type::kF32;
  };

  // Begins a temporary file beside `path`. Errors as above.
  static Result<SafetensorsWriter> create(const std::string& path,
                                          std::span<const Declared> tensors);

  // Values `first`, `first` + 1, ... of tensor `index`. Error kInvalid: beyond its end.
  Status write(size_t index, int64_t first, std::span<const float> values) { return write_bytes(index, first, std::as_bytes(values)); }
  Status write(size_t index, int64_t first, std::span<const int32_t> values) { return write_bytes(index, first, std::as_bytes(values)); }
  // Gives the file its name. Values that were never written are zero.
  Status finish() { return file_.finish(); }

 private:
  explicit SafetensorsWriter(TensorFile file) : file_(std::move(file)) {}
  Status write_bytes(size_t index, int64_t first, std::span<const std::byte> bytes) {
    return file_.write(index, first < 0 ? UINT64_MAX : static_cast<uint64_t>(first) * 4, bytes);
  }

  TensorFile file_;
};

}  // namespace kapitsa::weights
