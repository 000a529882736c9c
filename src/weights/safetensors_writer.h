// Writes safetensors files: logits and other results for people and tests to compare.
#pragma once

#include <cstdint>
#include <memory>
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

// The same for tensors that come piece by piece and need not fit in memory.
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
  SafetensorsWriter(SafetensorsWriter&&) noexcept;
  SafetensorsWriter& operator=(SafetensorsWriter&&) noexcept;
  ~SafetensorsWriter();  // unfinished: the temporary file goes

  // Values `first`, `first` + 1, ... of tensor `index`. Error kInvalid: beyond its end.
  Status write(size_t index, int64_t first, std::span<const float> values);
  Status write(size_t index, int64_t first, std::span<const int32_t> values);
  // Gives the file its name. Values that were never written are zero.
  Status finish();

 private:
  class TemporaryFile;
  struct Place {
    uint64_t offset;
    int64_t count;
  };
  SafetensorsWriter();
  Status write_bytes(size_t index, int64_t first, std::span<const std::byte> bytes);

  std::unique_ptr<TemporaryFile> file_;
  std::vector<Place> places_;
  uint64_t size_ = 0;
};

}  // namespace kapitsa::weights
