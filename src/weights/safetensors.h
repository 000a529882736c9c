// The safetensors container: an 8-byte header length, a JSON header, then the tensors' bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_map.h"
#include "base/status.h"
#include "quant/format.h"

namespace kapitsa::weights {

// One tensor of a safetensors file, of any type.
struct StoredTensor {
  std::string name;
  std::string dtype;           // as the file says: "F32", "BF16", "I64", "F8_E4M3", ...
  std::vector<int64_t> shape;  // row-major
  std::span<const std::byte> bytes;
};

// Reads a whole file's bytes; the tensors point into them. Checked: the header's length (at most
// 100 MB) and JSON, that no name comes twice, that the offsets cover the data without gap or
// overlap, and, for every type of the specification, that shape and type give exactly the size. A
// type that is newer than this code is kept with its size unchecked: nothing can be done with it
// but list it.
Result<std::vector<StoredTensor>> parse_safetensors(std::span<const std::byte> bytes);

// Bits of one element; 0 for a dtype that is not known here.
int dtype_bits(std::string_view dtype);

// The format that a dtype is read as; nothing for integers, F64, F8 and the like.
std::optional<quant::Format> format_of(std::string_view dtype);

// An opened file: reference outputs, drafters, shards.
struct SafetensorsFile {
  std::shared_ptr<FileMap> file;
  std::vector<StoredTensor> tensors;  // in the order of their bytes

  static Result<SafetensorsFile> open(const std::string& path);
  const StoredTensor* find(std::string_view name) const;
};

}  // namespace kapitsa::weights
