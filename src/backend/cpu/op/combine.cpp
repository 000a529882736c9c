#include <algorithm>
#include <cstring>

#include "backend/cpu/op/pairs.h"

namespace kapitsa::cpu {
namespace {

using backend::CombineOp;

struct Scratch {
  ProductScratch products;
  size_t pairs;
  Scratch(const CombineOp& op, int rows) {
    products.add(op.down);
    products.add_tiles(rows, 1);
    pairs = products.take(Pairs::bytes(rows, op.used, op.down->experts()));
  }
};

}  // namespace

size_t combine_scratch_bytes(const CombineOp& op, int rows) { return Scratch(op, rows).products.bytes; }

void combine(const Run& run, size_t index, const CombineOp& op, int member) {
  const int rows = run.rows_of(op.in);
  const Scratch layout(op, run.step.shape.rows);
  std::byte* mine = run.member_scratch(member);
  const auto& down = static_cast<const CpuWeight&>(*op.down);
  const Pairs pairs(run, op.route, op.used, rows, down.experts(), mine + layout.pairs);

  const int64_t inner = down.columns(), hidden = down.rows(), panels = down.panels();
  const Input in = gather(run, pairs, op.down, member,
                          [&](int pair) { return run.row(op.in, pair / op.used) + pair % op.used * inner; });

  // Each pair's answer, then the sum in the order of the route: whose rows came together changes no bit.
  auto* answers = reinterpret_cast<float*>(run.scratch + run.step.answers_offset);
  float* tile = layout.products.tile_at(mine, 0);
  run.claim(index, pairs.active * panels, 1, [&](int64_t unit) {
    const int64_t which = unit / panels, p = unit % panels;
    const int width = static_cast<int>(std::min<int64_t>(kPanelRows, hidden - p * kPanelRows));
    for (int row0 = pairs.begin[which]; row0 < pairs.begin[which + 1]; row0 += kRowBlock) {
      const int count = std::min(kRowBlock, pairs.begin[which + 1] - row0);
      product(run, down, pairs.experts[which] * panels + p, in, row0, count, tile, mine, layout.products);
      for (int r = 0; r < count; ++r) {
        run.kernels.store(tile + r * kPanelRows, 1, nullptr, answers + pairs.order[row0 + r] * hidden + p * kPanelRows, 0, width);
      }
    }
  });
  run.team.barrier();
  for (int row = member; row < rows; row += run.team.size()) {
    float* out = run.row(op.out, row);
    if (!op.add) std::memset(out, 0, static_cast<size_t>(hidden) * 4);
    const float* weights = run.row(op.route, row) + op.used;
    for (int i = 0; i < op.used; ++i) run.kernels.axpy(weights[i], answers + (int64_t{row} * op.used + i) * hidden, hidden, out);
  }
}

}  // namespace kapitsa::cpu
