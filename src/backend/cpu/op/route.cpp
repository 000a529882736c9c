#include <algorithm>
#include <cmath>

#include "backend/cpu/op/gates.h"
#include "backend/cpu/step.h"

namespace kapitsa::cpu {
namespace {

using backend::RouteOp;

// s = score(logits), in place.
void score(RouteOp::Score kind, float* s, int count) {
  if (kind == RouteOp::Score::kSigmoid) {
    for (int e = 0; e < count; ++e) s[e] = static_cast<float>(logistic(s[e]));
    return;
  }
  const double largest = *std::max_element(s, s + count);
  double total = 0;
  for (int e = 0; e < count; ++e) total += std::exp(s[e] - largest);
  for (int e = 0; e < count; ++e) s[e] = static_cast<float>(std::exp(s[e] - largest) / total);
}

// Takes the experts of all but the best groups out of the choice.
void keep_groups(const RouteOp& op, int experts, float* chosen_by) {
  if (op.used_groups >= op.groups) return;
  const int size = experts / op.groups;
  const auto worth = [&](int group) {
    float first = -INFINITY, second = -INFINITY;
    for (int e = group * size; e < (group + 1) * size; ++e) {
      if (chosen_by[e] > first) {
        second = first;
        first = chosen_by[e];
      } else {
        second = std::max(second, chosen_by[e]);
      }
    }
    return size > 1 ? first + second : first;
  };
  for (int dropped = op.groups - op.used_groups; dropped > 0; --dropped) {
    int least = -1;
    float least_worth = 0;
    for (int g = 0; g < op.groups; ++g) {
      if (chosen_by[g * size] == -INFINITY) continue;
      // Among equals the later group goes.
      if (const float w = worth(g); least < 0 || w <= least_worth) {
        least = g;
        least_worth = w;
      }
    }
    std::fill_n(chosen_by + least * size, size, -INFINITY);
  }
}

}  // namespace

size_t route_scratch_bytes(const RouteOp& op) { return 2 * static_cast<size_t>(op.in.width) * 4 + 64; }

void route(const Run& run, size_t index, const RouteOp& op, int member) {
  const int experts = op.in.width;
  auto* s = reinterpret_cast<float*>(run.member_scratch(member));
  float* chosen_by = s + experts;
  const float* bias = op.bias ? static_cast<const CpuWeight&>(*op.bias).floats() : nullptr;
  run.claim(index, run.rows_of(op.in), 4, [&](int64_t row) {
    std::copy_n(run.row(op.in, row), experts, s);
    score(op.score, s, experts);
    for (int e = 0; e < experts; ++e) chosen_by[e] = bias ? s[e] + bias[e] : s[e];
    keep_groups(op, experts, chosen_by);
    float* out = run.row(op.out, row);
    float total = 0;
    for (int i = 0; i < op.used; ++i) {
      const auto best = static_cast<int>(std::max_element(chosen_by, chosen_by + experts) - chosen_by);
      chosen_by[best] = -INFINITY;
      out[i] = static_cast<float>(best);
      out[op.used + i] = s[best];
      total += s[best];
    }
    const float factor = op.normalise ? op.scale / (total + op.epsilon) : op.scale;
    for (int i = 0; i < op.used; ++i) out[op.used + i] *= factor;
  });
}

}  // namespace kapitsa::cpu
