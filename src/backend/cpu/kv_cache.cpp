#include "backend/cpu/kv_cache.h"

namespace kapitsa::cpu {

Result<std::unique_ptr<CpuKvCache>> CpuKvCache::make(const backend::Graph& graph, backend::KvType type, int pages) {
  auto cache = std::make_unique<CpuKvCache>();
  cache->pages_ = pages;
  cache->element_ = type == backend::KvType::kF16 ? 2 : 4;
  for (const backend::KvLayer& spec : graph.kv_layers()) {
    Layer layer;
    layer.heads = spec.kv_heads;
    layer.plane_bytes = static_cast<size_t>(spec.head_dim) * backend::kPage * cache->element_;
    const size_t bytes = layer.plane_bytes * static_cast<size_t>(spec.kv_heads) * static_cast<size_t>(pages);
    KAPITSA_ASSIGN(layer.keys, Memory::allocate(bytes, false));
    KAPITSA_ASSIGN(layer.values, Memory::allocate(bytes, false));
    cache->page_bytes_ += 2 * layer.plane_bytes * static_cast<size_t>(spec.kv_heads);
    cache->layers_.push_back(std::move(layer));
  }
  return cache;
}

}  // namespace kapitsa::cpu
