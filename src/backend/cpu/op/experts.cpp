#include <algorithm>

#include "backend/cpu/op/pairs.h"

namespace kapitsa::cpu {
namespace {

using backend::ExpertsOp;

struct Scratch {
  ProductScratch products;
  size_t pairs;
  Scratch(const ExpertsOp& op, int rows) {
    products.add(op.up);
    products.add(op.gate);
    products.add_tiles(rows, 2);
    pairs = products.take(Pairs::bytes(rows, op.used, op.up->experts()));
  }
};

}  // namespace

size_t experts_scratch_bytes(const ExpertsOp& op, int rows) { return Scratch(op, rows).products.bytes; }

void experts(const Run& run, size_t index, const ExpertsOp& op, int member) {
  const int rows = run.rows_of(op.in);
  const Scratch layout(op, run.step.shape.rows);
  std::byte* mine = run.member_scratch(member);
  const Pairs pairs(run, op.route, op.used, rows, op.up->experts(), mine + layout.pairs);

  const Input in = gather(run, pairs, op.up, member, [&](int pair) { return run.row(op.in, pair / op.used); });

  const auto& up = static_cast<const CpuWeight&>(*op.up);
  const int64_t panels = up.panels(), inner = up.rows();
  float *tile = layout.products.tile_at(mine, 0), *second = layout.products.tile_at(mine, 1);
  run.claim(index, pairs.active * panels, 1, [&](int64_t unit) {
    const int64_t which = unit / panels, p = unit % panels;
    const int64_t panel = pairs.experts[which] * panels + p;
    const int width_here = static_cast<int>(std::min<int64_t>(kPanelRows, inner - p * kPanelRows));
    for (int row0 = pairs.begin[which]; row0 < pairs.begin[which + 1]; row0 += kRowBlock) {
      const int count = std::min(kRowBlock, pairs.begin[which + 1] - row0);
      product(run, up, panel, in, row0, count, tile, mine, layout.products);
      if (op.gate) product(run, static_cast<const CpuWeight&>(*op.gate), panel, in, row0, count, second, mine, layout.products);
      for (int r = 0; r < count; ++r) {
        const int pair = pairs.order[row0 + r];
        float* out = run.row(op.out, pair / op.used) + pair % op.used * inner + p * kPanelRows;
        if (op.gate) run.kernels.swiglu(second + r * kPanelRows, tile + r * kPanelRows, 1, out, 0, width_here);
        else run.kernels.relu2(tile + r * kPanelRows, 1, out, 0, width_here);
      }
    }
  });
}

}  // namespace kapitsa::cpu
