#include "backend/cpu/op/product.h"

#include <algorithm>

namespace kapitsa::cpu {

using Layout = CpuWeight::Layout;

void ProductScratch::add(const backend::WeightRef& weight) {
  if (!weight) return;
  const auto columns = static_cast<size_t>(weight->columns());
  const Layout layout = static_cast<const CpuWeight&>(*weight).layout();
  if (layout == Layout::kQuantPanels) panel_bytes_ = std::max(panel_bytes_, static_cast<size_t>(panel_scratch_bytes(weight->columns())));
  if (layout == Layout::kStored) {
    panel_bytes_ = std::max(panel_bytes_, columns * kPanelRows * 4);
    row_bytes_ = kPanelRows * CpuWeight::kExpandColumns * 4;
  }
}

void ProductScratch::add_tiles(int rows, int tiles) {
  panel = take(panel_bytes_);
  row = take(row_bytes_);
  tile_floats_ = static_cast<size_t>(std::min(rows, kRowBlock)) * kPanelRows;
  tile = take(static_cast<size_t>(tiles) * tile_floats_ * 4);
}

namespace {

void unscaled(const Run& run, const CpuWeight& w, int64_t p, const Input& in, int64_t row0, int rows, float* tile, std::byte* mine,
              const ProductScratch& layout) {
  if (w.layout() == Layout::kQuantPanels) {
    run.kernels.linear_quant(w.format(), reinterpret_cast<const uint8_t*>(w.panel(p)), w.superblocks(), in.quant, row0, rows,
                             tile, reinterpret_cast<uint8_t*>(mine + layout.panel));
    return;
  }
  const float* x = in.x + row0 * in.stride;
  if (w.layout() == Layout::kStored) {
    auto* expanded = reinterpret_cast<float*>(mine + layout.panel);
    w.expand_stored(p, expanded, reinterpret_cast<float*>(mine + layout.row));
    run.kernels.linear_float(quant::Format::f32, expanded, w.columns(), x, in.stride, rows, tile);
  } else {
    run.kernels.linear_float(w.format(), w.panel(p), w.columns(), x, in.stride, rows, tile);
  }
}

}  // namespace

void product(const Run& run, const CpuWeight& w, int64_t p, const Input& in, int64_t row0, int rows, float* tile, std::byte* mine,
             const ProductScratch& layout) {
  unscaled(run, w, p, in, row0, rows, tile, mine, layout);
  const float scale = w.scale(p);
  if (scale == 1) return;
  for (int i = 0; i < rows * kPanelRows; ++i) tile[i] *= scale;
}

}  // namespace kapitsa::cpu
