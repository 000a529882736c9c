#include <cstdint>
#include <cstdlib>
#include <vector>

#include "weights/gguf.h"

// Any bytes give an error or a checkpoint whose tensors can be read.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace weights = kapitsa::weights;
  weights::Checkpoint checkpoint;
  const auto status =
      weights::parse_gguf(std::as_bytes(std::span(data, size)), nullptr, checkpoint);
  if (!status.ok()) {
    if (status.message().empty()) std::abort();
    return 0;
  }
  for (const auto& [name, tensor] : checkpoint.tensors()) {
    std::vector<float> row(static_cast<size_t>(tensor.columns()));
    const size_t row_bytes = kapitsa::quant::row_bytes(tensor.format, row.size());
    if (row_bytes * static_cast<size_t>(tensor.rows()) != tensor.bytes.size()) std::abort();
    kapitsa::quant::decode_row(tensor.format, tensor.bytes.last(row_bytes).data(), row.size(),
                               row.data());
  }
  return 0;
}
