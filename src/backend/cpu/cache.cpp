#include "backend/cpu/cache.h"

#include <cstring>

namespace kapitsa::cpu {

Result<std::unique_ptr<CpuCache>> CpuCache::make(const backend::Graph& graph, const backend::CacheShape& shape) {
  if (shape.pages.size() != graph.kv_groups().size()) {
    return error(Code::kInternal, "pages for {} groups of KV layers, the graph has {}", shape.pages.size(), graph.kv_groups().size());
  }
  auto cache = std::make_unique<CpuCache>();
  cache->element_ = shape.type == backend::KvType::kF16 ? 2 : 4;
  for (size_t i = 0; i < graph.kv_layers().size(); ++i) {
    const backend::KvLayer& spec = graph.kv_layers()[i];
    Layer layer;
    layer.heads = spec.kv_heads;
    layer.group = graph.kv_group_of(static_cast<int>(i));
    layer.plane_bytes = static_cast<size_t>(spec.head_dim) * backend::kPage * cache->element_;
    const auto pages = static_cast<size_t>(shape.pages[static_cast<size_t>(layer.group)]);
    const size_t bytes = layer.plane_bytes * static_cast<size_t>(spec.kv_heads) * pages;
    KAPITSA_ASSIGN(layer.keys, Memory::allocate(bytes, false));
    KAPITSA_ASSIGN(layer.values, Memory::allocate(bytes, false));
    cache->layers_.push_back(std::move(layer));
  }
  for (const int64_t floats : graph.states()) {
    State state;
    state.stride = (static_cast<size_t>(floats) + 15) / 16 * 16;
    KAPITSA_ASSIGN(state.memory, Memory::allocate(state.stride * 4 * static_cast<size_t>(std::max(shape.states, 1)), false));
    cache->states_.push_back(std::move(state));
  }
  return cache;
}

void CpuCache::copy_page(int group, int from, int to) {
  for (const Layer& layer : layers_) {
    if (layer.group != group) continue;
    const size_t bytes = layer.plane_bytes * static_cast<size_t>(layer.heads);
    std::memcpy(layer.plane(layer.keys, to, 0), layer.plane(layer.keys, from, 0), bytes);
    std::memcpy(layer.plane(layer.values, to, 0), layer.plane(layer.values, from, 0), bytes);
  }
}

void CpuCache::copy_state(int from, int to) {
  for (size_t i = 0; i < states_.size(); ++i) {
    std::memcpy(state(static_cast<int>(i), to), state(static_cast<int>(i), from), states_[i].stride * 4);
  }
}

}  // namespace kapitsa::cpu
