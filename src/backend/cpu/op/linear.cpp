#include <algorithm>

#include "backend/cpu/step.h"

namespace kapitsa::cpu {
namespace {

using backend::LinearOp;
using Layout = CpuWeight::Layout;

// Rows whose activations stay in the second-level cache while panels stream past.
constexpr int kRowBlock = 128;
// Up to here every member norms and quantises the rows for itself: cheaper than waiting for each other.
constexpr int kPrivateRows = 2;

const CpuWeight& weight_of(const LinearOp::Part& part) { return static_cast<const CpuWeight&>(*part.weight); }

bool any_quant(const LinearOp& op) {
  return std::any_of(op.parts.begin(), op.parts.end(), [](const auto& p) { return weight_of(p).layout() == Layout::kQuantPanels; });
}

// Members' scratch: an expanded panel, pieces of its rows for decoding, two result tiles, private rows.
struct Scratch {
  size_t panel, pieces, tile, normed, quant, bytes;
  Scratch(const LinearOp& op, int rows) {
    const auto columns = static_cast<size_t>(op.in.width);
    size_t panel_bytes = 0, piece_bytes = 0;
    for (const auto& p : op.parts) {
      if (weight_of(p).layout() == Layout::kQuantPanels) {
        panel_bytes = std::max(panel_bytes, static_cast<size_t>(panel_scratch_bytes(op.in.width)));
      } else if (weight_of(p).layout() == Layout::kStored) {
        panel_bytes = std::max(panel_bytes, columns * kPanelRows * 4);
        piece_bytes = kPanelRows * CpuWeight::kExpandColumns * 4;
      }
    }
    size_t at = 0;
    const auto take = [&at](size_t n) { const size_t begin = at; at += (n + 127) / 64 * 64; return begin; };
    panel = take(panel_bytes);
    pieces = take(piece_bytes);
    tile = take(2 * static_cast<size_t>(std::min(rows, kRowBlock)) * kPanelRows * 4);
    normed = take(kPrivateRows * columns * 4);
    quant = take(quant_rows_bytes(kPrivateRows, op.in.width));
    bytes = at;
  }
};

// The rows of one linear op, normed and quantised where it asks for it.
struct Input {
  const float* x;
  QuantRows quant;
};

Input prepare(const Run& run, const LinearOp& op, int rows, int member, const Scratch& layout) {
  const bool quant = any_quant(op);
  const int64_t width = op.in.width;
  const bool alone = rows <= kPrivateRows;
  std::byte* mine = run.member_scratch(member);
  float* normed = reinterpret_cast<float*>(alone ? mine + layout.normed : run.scratch + run.step.normed_offset);
  Input in{run.value(op.in), quant_rows_at(alone ? mine + layout.quant : run.scratch + run.step.quant_offset,
                                           alone ? kPrivateRows : rows, width)};
  if (!op.norm && !quant) return in;
  const float* weight = op.norm ? static_cast<const CpuWeight&>(*op.norm->weight).floats() : nullptr;
  for (int r = alone ? 0 : member; r < rows; r += alone ? 1 : run.team.size()) {
    const float* x = in.x + r * width;
    if (op.norm) {
      run.kernels.rms_norm(x, weight, op.norm->eps, width, normed + r * width);
      x = normed + r * width;
    }
    if (quant) run.kernels.quantize(x, width, in.quant, r);
  }
  if (op.norm) in.x = normed;
  if (!alone) run.team.barrier();
  return in;
}

// tile[rows][16] = panel `p` of `w` times rows [row0, row0 + rows).
void product(const Run& run, const CpuWeight& w, int64_t p, const Input& in, int row0, int rows, float* tile, std::byte* mine,
             const Scratch& layout) {
  if (w.layout() == Layout::kQuantPanels) {
    run.kernels.linear_quant(w.format(), reinterpret_cast<const uint8_t*>(w.panel(p)), w.superblocks(), in.quant, row0, rows,
                             tile, reinterpret_cast<uint8_t*>(mine + layout.panel));
    return;
  }
  const float* x = in.x + row0 * w.columns();
  if (w.layout() == Layout::kStored) {
    auto* expanded = reinterpret_cast<float*>(mine + layout.panel);
    w.expand_stored(p, expanded, reinterpret_cast<float*>(mine + layout.pieces));
    run.kernels.linear_float(quant::Format::f32, expanded, w.columns(), x, w.columns(), rows, tile);
  } else {
    run.kernels.linear_float(w.format(), w.panel(p), w.columns(), x, w.columns(), rows, tile);
  }
}

}  // namespace

size_t linear_scratch_bytes(const LinearOp& op, int rows) { return Scratch(op, rows).bytes; }

void linear(const Run& run, size_t index, const LinearOp& op, int member) {
  const int rows = run.rows_of(op.in);
  if (rows == 0) return;
  const Scratch layout(op, run.step.shape.rows);
  const Input in = prepare(run, op, rows, member, layout);
  std::byte* mine = run.member_scratch(member);
  float* tile = reinterpret_cast<float*>(mine + layout.tile);
  float* second = tile + static_cast<size_t>(std::min(run.step.shape.rows, kRowBlock)) * kPanelRows;

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
    product(run, w, p, in, row0, count, tile, mine, layout);

    const int64_t stride = part->out.width;
    float* out = run.value(part->out) + row0 * stride + p * kPanelRows;
    const int width = static_cast<int>(std::min<int64_t>(kPanelRows, w.rows() - p * kPanelRows));
    const float* bias = part->bias ? static_cast<const CpuWeight&>(*part->bias).floats() + p * kPanelRows : nullptr;
    switch (op.epilogue) {
      case LinearOp::Epilogue::kStore: return run.kernels.store(tile, count, bias, out, stride, width);
      case LinearOp::Epilogue::kAdd: return run.kernels.add(tile, count, bias, out, stride, width);
      case LinearOp::Epilogue::kSwiGlu:
        product(run, weight_of(op.parts[1]), p, in, row0, count, second, mine, layout);
        return run.kernels.swiglu(tile, second, count, out, stride, width);
    }
  });
}

}  // namespace kapitsa::cpu
