#include "backend/backend.h"

namespace kapitsa::backend {

int bucket(int rows) {
  for (int b = 1; b <= kMaxDecodeRows; b *= 2) {
    if (rows <= b) return b;
  }
  return (rows + kPage - 1) / kPage * kPage;
}

size_t Stored::stored_bytes() const {
  if (!planes) return bytes.size();
  const auto scales = static_cast<size_t>(planes->scale_count(rows) * planes->groups()) * quant::scale_bytes(planes->scale);
  return static_cast<size_t>(rows) * planes->row_bytes() + scales * (planes->biases.empty() ? 1 : 2);
}

size_t kv_page_bytes(const Graph& graph, KvType type, int group) {
  size_t values = 0;
  for (const int index : graph.kv_groups()[static_cast<size_t>(group)].layers) {
    const KvLayer& layer = graph.kv_layers()[static_cast<size_t>(index)];
    values += size_t{2} * kPage * static_cast<size_t>(layer.kv_heads) * static_cast<size_t>(layer.head_dim);
  }
  return values * (type == KvType::kF16 ? 2 : 4);
}

size_t state_bytes(const Graph& graph) {
  size_t floats = 0;
  for (const int64_t state : graph.states()) floats += static_cast<size_t>(state);
  return floats * 4;
}

}  // namespace kapitsa::backend
