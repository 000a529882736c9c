#include <algorithm>
#include <cmath>

#include "backend/cpu/op/gates.h"
#include "backend/cpu/step.h"

namespace kapitsa::cpu {

using backend::ScanOp;

// A head's rows one after another: its state then has the same bits however a prompt was cut.
void scan(const Run& run, size_t index, const ScanOp& op, int /*member*/) {
  const int inner = op.heads * op.head_dim;
  const float* decay = static_cast<const CpuWeight&>(*op.decay).floats();
  const float* dt_bias = static_cast<const CpuWeight&>(*op.dt_bias).floats();
  const float* d = static_cast<const CpuWeight&>(*op.d).floats();
  run.claim(index, static_cast<int64_t>(run.cuts.sequences.size()) * op.heads, 1, [&](int64_t unit) {
    const SequenceRows& rows = run.cuts.sequences[static_cast<size_t>(unit / op.heads)];
    const int head = static_cast<int>(unit % op.heads), group = head / (op.heads / op.groups);
    float* state = run.head_state(op.state, rows.sequence, head, int64_t{op.state_dim} * op.head_dim);
    for (int r = rows.row; r < rows.row + rows.count; ++r) {
      const float* in = run.row(op.in, r);
      const double step = std::clamp(softplus(double{run.row(op.dt, r)[head]} + dt_bias[head]), double{op.low}, double{op.high});
      run.kernels.scan(state, in + head * op.head_dim, in + inner + group * op.state_dim,
                       in + inner + (op.groups + group) * op.state_dim, static_cast<float>(std::exp(step * decay[head])),
                       static_cast<float>(step), d[head], op.state_dim, op.head_dim, run.row(op.out, r) + head * op.head_dim);
    }
  });
}

}  // namespace kapitsa::cpu
