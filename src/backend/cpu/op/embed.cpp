#include "backend/cpu/step.h"

namespace kapitsa::cpu {

void embed(const Run& run, size_t index, const backend::EmbedOp& op, int member) {
  const auto& table = static_cast<const CpuWeight&>(*op.table);
  run.claim(index, run.rows, 1, [&](int64_t row) {
    table.read_row(run.batch.tokens[static_cast<size_t>(row)], run.row(op.out, row), run.member_scratch(member));
  });
}

}  // namespace kapitsa::cpu
