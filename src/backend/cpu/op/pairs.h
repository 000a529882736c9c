// The (row, choice) pairs of a mixture of experts, sorted by expert, so that one expert's rows are worked on together.
#pragma once

#include "backend/cpu/op/product.h"

namespace kapitsa::cpu {

struct Pairs {
  int count = 0;      // rows * used
  int active = 0;     // experts that anybody asks
  int32_t* order;     // [count] pairs row * used + i, by expert, then in order
  int32_t* experts;   // [active]
  int32_t* begin;     // [active + 1] into `order`

  // Each member sorts for itself: that is quicker than waiting for another to do it. `memory` takes bytes().
  Pairs(const Run& run, backend::Value route, int used, int rows, int all_experts, std::byte* memory) : count(rows * used) {
    order = reinterpret_cast<int32_t*>(memory);
    experts = order + count;
    begin = experts + all_experts;
    int32_t* next = begin + all_experts + 1;  // of each expert: first its count, then its next place
    std::fill_n(next, all_experts, 0);
    for (int row = 0; row < rows; ++row) {
      const float* chosen = run.row(route, row);
      for (int i = 0; i < used; ++i) ++next[static_cast<int>(chosen[i])];
    }
    int32_t at = 0;
    for (int e = 0; e < all_experts; ++e) {
      const int32_t size = next[e];
      next[e] = at;
      if (size == 0) continue;
      experts[active] = e;
      begin[active++] = at;
      at += size;
    }
    begin[active] = at;
    for (int row = 0; row < rows; ++row) {
      const float* chosen = run.row(route, row);
      for (int i = 0; i < used; ++i) order[next[static_cast<int>(chosen[i])]++] = row * used + i;
    }
  }
  static size_t bytes(int rows, int used, int all_experts) {
    return (static_cast<size_t>(rows) * static_cast<size_t>(used) + 3 * static_cast<size_t>(all_experts) + 1) * 4;
  }
};

// The input of each pair in their order, prepared by all members for all, as `weight` wants it; `row_of(pair)` gives where
// it lies. Behind a barrier.
template <class F>
Input gather(const Run& run, const Pairs& pairs, const backend::WeightRef& weight, int member, F row_of) {
  const int64_t width = weight->columns();
  const bool quant = is_quant(weight);
  auto* gathered = reinterpret_cast<float*>(run.scratch + run.step.shared_offset);
  Input in{gathered, width, quant_rows_at(run.scratch + run.step.quant_offset, pairs.count, width)};
  for (int i = member; i < pairs.count; i += run.team.size()) {
    const float* x = row_of(pairs.order[i]);
    if (quant) run.kernels.quantize(x, width, in.quant, i);
    else std::copy_n(x, width, gathered + i * width);
  }
  run.team.barrier();
  return in;
}

}  // namespace kapitsa::cpu
