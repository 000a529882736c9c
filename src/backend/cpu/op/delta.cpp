#include <cmath>

#include "backend/cpu/op/gates.h"
#include "backend/cpu/step.h"

namespace kapitsa::cpu {

using backend::DeltaOp;

size_t delta_scratch_bytes(const DeltaOp& op) { return 2 * (static_cast<size_t>(op.key_dim) * 4 + 64); }

// A head's rows one after another: its state then has the same bits however a prompt was cut.
void delta(const Run& run, size_t index, const DeltaOp& op, int member) {
  const int keys = op.key_dim, values = op.value_dim, repeat = op.value_heads / op.key_heads;
  auto* q = reinterpret_cast<float*>(run.member_scratch(member));
  float* k = q + (keys + 15) / 16 * 16;
  const float* decay = static_cast<const CpuWeight&>(*op.decay).floats();
  const float* dt_bias = static_cast<const CpuWeight&>(*op.dt_bias).floats();
  const auto scale = static_cast<float>(1 / std::sqrt(double{static_cast<float>(keys)}));
  run.claim(index, static_cast<int64_t>(run.cuts.sequences.size()) * op.value_heads, 1, [&](int64_t unit) {
    const SequenceRows& rows = run.cuts.sequences[static_cast<size_t>(unit / op.value_heads)];
    const int head = static_cast<int>(unit % op.value_heads);
    const int key_head = op.map == backend::HeadMap::kGrouped ? head / repeat : head % op.key_heads;
    float* state = run.head_state(op.state, rows.sequence, head, int64_t{keys} * values);
    for (int r = rows.row; r < rows.row + rows.count; ++r) {
      const float* in = run.row(op.in, r);
      run.kernels.l2_norm(in + key_head * keys, keys, 1e-6f, scale, q);
      run.kernels.l2_norm(in + (op.key_heads + key_head) * keys, keys, 1e-6f, 1.0f, k);
      const double step = softplus(double{run.row(op.a, r)[head]} + dt_bias[head]);
      const auto alpha = static_cast<float>(std::exp(decay[head] * step));
      const auto beta = static_cast<float>(logistic(run.row(op.b, r)[head]));
      run.kernels.delta(state, q, k, in + 2 * op.key_heads * keys + head * values, alpha, beta, keys, values,
                        run.row(op.out, r) + head * values);
    }
  });
}

}  // namespace kapitsa::cpu
