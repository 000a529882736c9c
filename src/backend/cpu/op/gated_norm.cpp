#include "backend/cpu/step.h"

namespace kapitsa::cpu {

void gated_norm(const Run& run, size_t index, const backend::GatedNormOp& op, int /*member*/) {
  const auto& weight = static_cast<const CpuWeight&>(*op.norm.weight);
  const bool shared = weight.columns() == op.group;  // one weight for all groups
  run.claim(index, run.rows_of(op.in), 1, [&](int64_t row) {
    const float *in = run.row(op.in, row), *gate = run.row(op.gate, row);
    float* out = run.row(op.out, row);
    if (op.gate_first) {
      run.kernels.silu_mul(gate, in, op.in.width, out);
      in = out;
    }
    for (int at = 0; at < op.in.width; at += op.group) {
      run.kernels.rms_norm(in + at, weight.floats() + (shared ? 0 : at), op.norm.eps, op.group, out + at);
    }
    if (!op.gate_first) run.kernels.silu_mul(gate, out, op.in.width, out);
  });
}

}  // namespace kapitsa::cpu
