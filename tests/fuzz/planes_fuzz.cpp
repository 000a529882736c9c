#include <cstdint>
#include <cstdlib>

#include "weights/join.h"

// The parts of quantised matrices in any file give an error, or matrices whose every row can be read.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kapitsa;
  const auto tensors = weights::parse_safetensors(std::as_bytes(std::span(data, size)));
  if (!tensors.ok()) return 0;
  weights::RawTensors raw;
  for (const auto& tensor : *tensors) raw.try_emplace(tensor.name, tensor, nullptr);
  weights::Checkpoint out;
  out.config = Json::parse(R"({"quantization":{"group_size":64,"bits":4,"mlx.3.32":{"group_size":32,"bits":3}}})");
  if (const auto status = weights::join_parts(raw, out); !status.ok()) {
    if (status.message().empty()) std::abort();
    return 0;
  }
  float sum = 0;
  for (const auto& [name, tensor] : out.tensors()) {
    std::vector<float> row(static_cast<size_t>(tensor.columns()));
    for (int64_t r = 0; r < tensor.rows(); ++r) {
      tensor.decode_row(r, row.data());
      sum += row[0];
    }
  }
  volatile float sink = sum;
  (void)sink;
  return 0;
}
