#include <algorithm>

#include "backend/cpu/op/product.h"

namespace kapitsa::cpu {
namespace {

using backend::LinearOp;

// Up to here every member norms and quantises the rows for itself: cheaper than waiting for each other.
constexpr int kPrivateRows = 2;

const CpuWeight& weight_of(const LinearOp::Part& part) { return static_cast<const CpuWeight&>(*part.weight); }

bool any_quant(const LinearOp& op) {
  return std::any_of(op.parts.begin(), op.parts.end(), [](const auto& p) { return is_quant(p.weight); });
}

// Members' scratch: that of the products, and private rows.
struct Scratch {
  ProductScratch products;
  size_t normed, quant;
  Scratch(const LinearOp& op, int rows) {
    for (const auto& part : op.parts) products.add(part.weight);
    products.add_tiles(rows, 2);
    normed = products.take(kPrivateRows * static_cast<size_t>(op.in.width) * 4);
    quant = products.take(quant_rows_bytes(kPrivateRows, op.in.width));
  }
};

// The rows of one linear op, normed and quantised where it asks for it.
Input prepare(const Run& run, const LinearOp& op, int rows, int member, const Scratch& layout) {
  const bool quant = any_quant(op);
  const int64_t width = op.in.width;
  const bool alone = rows <= kPrivateRows;
  std::byte* mine = run.member_scratch(member);
  float* normed = reinterpret_cast<float*>(alone ? mine + layout.normed : run.scratch + run.step.shared_offset);
  Input in{run.value(op.in), op.in.stride,
           quant_rows_at(alone ? mine + layout.quant : run.scratch + run.step.quant_offset, alone ? kPrivateRows : rows, width)};
  if (!op.norm && !quant) return in;
  const float* weight = op.norm ? static_cast<const CpuWeight&>(*op.norm->weight).floats() : nullptr;
  for (int r = alone ? 0 : member; r < rows; r += alone ? 1 : run.team.size()) {
    const float* x = run.row(op.in, r);
    if (op.norm) {
      run.kernels.rms_norm(x, weight, op.norm->eps, width, normed + r * width);
      x = normed + r * width;
    }
    if (quant) run.kernels.quantize(x, width, in.quant, r);
  }
  if (op.norm) {
    in.x = normed;
    in.stride = width;
  }
  if (!alone) run.team.barrier();
  return in;
}

// out += sigmoid(gate) * (tile + bias)
void add_gated(const Run& run, const LinearOp& op, float* tile, int64_t row0, int rows, const float* bias, float* out, int width) {
  for (int r = 0; r < rows; ++r, tile += kPanelRows) {
    float gate;
    run.kernels.sigmoid(run.row(op.gate, row0 + r), 1, &gate);
    if (bias) run.kernels.axpy(1.0f, bias, width, tile);
    run.kernels.axpy(gate, tile, width, out + r * op.parts[0].out.stride);
  }
}

}  // namespace

size_t linear_scratch_bytes(const LinearOp& op, int rows) { return Scratch(op, rows).products.bytes; }

void linear(const Run& run, size_t index, const LinearOp& op, int member) {
  const int rows = run.rows_of(op.in);
  if (rows == 0) return;
  const Scratch layout(op, run.step.shape.rows);
  const Input in = prepare(run, op, rows, member, layout);
  std::byte* mine = run.member_scratch(member);
  float *tile = layout.products.tile_at(mine, 0), *second = layout.products.tile_at(mine, 1);

  const bool swiglu = op.epilogue == LinearOp::Epilogue::kSwiGlu;
  int64_t panels = 0;
  for (const auto& part : op.parts) panels += weight_of(part).panels();
  if (swiglu) panels /= 2;
  const int64_t blocks = (rows + kRowBlock - 1) / kRowBlock;
  const int64_t chunk = std::clamp<int64_t>(panels * blocks / (run.team.size() * 8), 1, 16);

  run.claim(index, panels * blocks, chunk, [&](int64_t unit) {
    const int row0 = static_cast<int>(unit / panels) * kRowBlock, count = std::min(kRowBlock, rows - row0);
    int64_t p = unit % panels;
    const LinearOp::Part* part = &op.parts[0];
    if (!swiglu) {
      for (; p >= weight_of(*part).panels(); ++part) p -= weight_of(*part).panels();
    }
    const CpuWeight& w = weight_of(*part);
    product(run, w, p, in, row0, count, tile, mine, layout.products);

    const int64_t stride = part->out.stride;
    float* out = run.row(part->out, row0) + p * kPanelRows;
    const int width = static_cast<int>(std::min<int64_t>(kPanelRows, w.rows() - p * kPanelRows));
    const float* bias = part->bias ? static_cast<const CpuWeight&>(*part->bias).floats() + p * kPanelRows : nullptr;
    switch (op.epilogue) {
      case LinearOp::Epilogue::kStore: return run.kernels.store(tile, count, bias, out, stride, width);
      case LinearOp::Epilogue::kAdd:
        if (op.gate.valid()) return add_gated(run, op, tile, row0, count, bias, out, width);
        return run.kernels.add(tile, count, bias, out, stride, width);
      case LinearOp::Epilogue::kRelu2: return run.kernels.relu2(tile, count, out, stride, width);
      case LinearOp::Epilogue::kSwiGlu:
        product(run, weight_of(op.parts[1]), p, in, row0, count, second, mine, layout.products);
        return run.kernels.swiglu(tile, second, count, out, stride, width);
    }
  });
}

}  // namespace kapitsa::cpu
