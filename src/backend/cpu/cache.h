// What sequences leave behind, on the CPU. A page holds kPage tokens of every layer of its group; in it keys lie
// transposed, so that the lanes of a register are keys and a score needs no sum across lanes:
//   keys   [layer][page][kv head][head_dim][64]
//   values [layer][page][kv head][64][head_dim]
//   states [layer][slot][floats]
#pragma once

#include <vector>

#include "backend/backend.h"
#include "backend/cpu/memory.h"

namespace kapitsa::cpu {

class CpuCache : public backend::Cache {
 public:
  static Result<std::unique_ptr<CpuCache>> make(const backend::Graph& graph, const backend::CacheShape& shape);

  void copy_page(int group, int from, int to) override;
  void copy_state(int from, int to) override;

  bool half() const { return element_ == 2; }
  // The 64 tokens of one head: [head_dim][64] and [64][head_dim].
  std::byte* keys(int layer, int page, int head) const {
    const Layer& l = layers_[static_cast<size_t>(layer)];
    return l.plane(l.keys, page, head);
  }
  std::byte* values(int layer, int page, int head) const {
    const Layer& l = layers_[static_cast<size_t>(layer)];
    return l.plane(l.values, page, head);
  }
  float* state(int layer, int slot) const {
    const State& s = states_[static_cast<size_t>(layer)];
    return s.memory.as<float>() + static_cast<size_t>(slot) * s.stride;
  }

 private:
  struct Layer {
    Memory keys, values;
    int heads, group;
    size_t plane_bytes;
    std::byte* plane(const Memory& memory, int page, int head) const {
      return memory.data() + (static_cast<size_t>(page) * static_cast<size_t>(heads) + static_cast<size_t>(head)) * plane_bytes;
    }
  };
  struct State {
    Memory memory;
    size_t stride;  // floats from slot to slot: whole cache lines
  };
  size_t element_ = 2;
  std::vector<Layer> layers_;
  std::vector<State> states_;
};

}  // namespace kapitsa::cpu
