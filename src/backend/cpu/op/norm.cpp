#include "backend/cpu/step.h"

namespace kapitsa::cpu {

void norm(const Run& run, size_t index, const backend::NormOp& op, int /*member*/) {
  const auto& weight = static_cast<const CpuWeight&>(*op.norm.weight);
  run.claim(index, run.rows_of(op.in), 1, [&](int64_t row) {
    run.kernels.rms_norm(run.value(op.in) + row * op.in.width, weight.floats(), op.norm.eps, op.in.width,
                         run.value(op.out) + row * op.in.width);
  });
}

}  // namespace kapitsa::cpu
