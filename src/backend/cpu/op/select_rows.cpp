#include <cstring>

#include "backend/cpu/step.h"

namespace kapitsa::cpu {

void select_rows(const Run& run, size_t index, const backend::SelectRowsOp& op, int /*member*/) {
  run.claim(index, run.outputs, 1, [&](int64_t i) {
    const auto width = static_cast<size_t>(op.in.width);
    const auto row = static_cast<size_t>(run.batch.output_rows[static_cast<size_t>(i)]);
    std::memcpy(run.row(op.out, i), run.row(op.in, static_cast<int64_t>(row)), width * 4);
  });
}

}  // namespace kapitsa::cpu
