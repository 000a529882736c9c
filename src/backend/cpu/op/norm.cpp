#include "backend/cpu/step.h"

namespace kapitsa::cpu {

void norm(const Run& run, size_t index, const backend::NormOp& op, int /*member*/) {
  const auto& weight = static_cast<const CpuWeight&>(*op.norm.weight);
  run.claim(index, run.rows_of(op.in), 1, [&](int64_t row) {
    run.kernels.rms_norm(run.row(op.in, row), weight.floats(), op.norm.eps, op.in.width, run.row(op.out, row));
  });
}

}  // namespace kapitsa::cpu
