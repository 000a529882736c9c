// The JSON header of a safetensors file, read as a stream of events: headers have tens of thousands
// of keys, and a document tree would cost much more than the entries themselves and hide repeated
// names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace kapitsa::weights {

struct SafetensorsEntry {
  std::string name;
  std::string dtype;
  std::vector<int64_t> shape;
  uint64_t begin = 0;  // data_offsets, from the first byte after the header
  uint64_t end = 0;
};

// Entries in the order of the header. Refuses what is no such header, naming the tensor; a field
// that the specification does not know is skipped.
Result<std::vector<SafetensorsEntry>> parse_safetensors_header(std::string_view json);

}  // namespace kapitsa::weights
