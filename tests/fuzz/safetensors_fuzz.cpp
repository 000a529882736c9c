#include <cstdint>
#include <cstdlib>

#include "weights/safetensors.h"

// Any bytes give an error or tensors that cover the data exactly.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto tensors = kapitsa::weights::parse_safetensors(std::as_bytes(std::span(data, size)));
  if (!tensors.ok()) {
    if (tensors.message().empty()) std::abort();
    return 0;
  }
  size_t header = 0;
  for (int i = 7; i >= 0; --i) header = header << 8 | data[i];
  size_t sum = 8 + header;
  unsigned touched = 0;
  for (const auto& tensor : *tensors) {
    sum += tensor.bytes.size();
    for (const std::byte b : tensor.bytes) touched += static_cast<unsigned>(b);
  }
  volatile unsigned sink = touched;
  (void)sink;
  if (sum != size) std::abort();
  return 0;
}
