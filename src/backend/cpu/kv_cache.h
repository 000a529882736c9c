// The KV cache on the CPU. A page holds kPage tokens of every layer; in it keys lie transposed, so that the lanes of a
// register are keys and a score needs no sum across lanes:
//   keys   [layer][page][kv head][head_dim][64]
//   values [layer][page][kv head][64][head_dim]
#pragma once

#include <vector>

#include "backend/backend.h"
#include "backend/cpu/memory.h"

namespace kapitsa::cpu {

class CpuKvCache : public backend::KvCache {
 public:
  static Result<std::unique_ptr<CpuKvCache>> make(const backend::Graph& graph, backend::KvType type, int pages);

  int pages() const override { return pages_; }
  size_t page_bytes() const override { return page_bytes_; }
  bool half() const { return element_ == 2; }
  size_t element() const { return element_; }

  // The 64 tokens of one head: [head_dim][64] and [64][head_dim].
  std::byte* keys(int layer, int page, int head) const { return plane(layers_[static_cast<size_t>(layer)].keys, layer, page, head); }
  std::byte* values(int layer, int page, int head) const { return plane(layers_[static_cast<size_t>(layer)].values, layer, page, head); }

 private:
  struct Layer {
    Memory keys, values;
    int heads;
    size_t plane_bytes;
  };
  std::byte* plane(const Memory& memory, int layer, int page, int head) const {
    const Layer& l = layers_[static_cast<size_t>(layer)];
    return memory.data() + (static_cast<size_t>(page) * static_cast<size_t>(l.heads) + static_cast<size_t>(head)) * l.plane_bytes;
  }
  int pages_ = 0;
  size_t page_bytes_ = 0, element_ = 2;
  std::vector<Layer> layers_;
};

}  // namespace kapitsa::cpu
