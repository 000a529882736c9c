// What the matrix ops share: a panel of a weight times rows of an input, in the layout that the weight has.
#pragma once

#include "backend/cpu/step.h"

namespace kapitsa::cpu {

// Rows whose activations stay in the second-level cache while panels stream past.
inline constexpr int kRowBlock = 128;

// The rows of one op: as float32, and as 8 bits where a weight wants that.
struct Input {
  const float* x = nullptr;
  int64_t stride = 0;
  QuantRows quant{};
};

inline bool is_quant(const backend::WeightRef& w) {
  return static_cast<const CpuWeight&>(*w).layout() == CpuWeight::Layout::kQuantPanels;
}

// A member's scratch for products: an expanded panel, pieces of its rows for decoding, result tiles. Further pieces may be taken behind.
struct ProductScratch {
  size_t panel = 0, row = 0, tile = 0, bytes = 0;
  // First room for the weights (null: none), then for `tiles` results of up to min(rows, kRowBlock) rows, then the rest.
  void add(const backend::WeightRef& weight);
  void add_tiles(int rows, int tiles);
  size_t take(size_t n) {
    const size_t begin = bytes;
    bytes += (n + 127) / 64 * 64;
    return begin;
  }
  float* tile_at(std::byte* mine, int i) const {
    return reinterpret_cast<float*>(mine + tile) + static_cast<size_t>(i) * tile_floats_;
  }

 private:
  size_t panel_bytes_ = 0, row_bytes_ = 0, tile_floats_ = 0;
};

// tile[rows][16] = panel `p` of `w` times rows [row0, row0 + rows).
void product(const Run& run, const CpuWeight& w, int64_t p, const Input& in, int64_t row0, int rows, float* tile, std::byte* mine,
             const ProductScratch& layout);

}  // namespace kapitsa::cpu
