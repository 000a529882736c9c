// A weight as the CPU backend keeps it.
#pragma once

#include <span>
#include <vector>

#include "backend/backend.h"
#include "backend/cpu/memory.h"
#include "backend/cpu/pack/panel.h"
#include "base/thread_team.h"

namespace kapitsa::cpu {

class CpuWeight : public backend::Weight {
 public:
  enum class Layout {
    kVector,       // float32
    kQuantPanels,  // pack/panel.h
    kFloatPanels,  // [rows / 16][columns][16] of F32, F16 or BF16
    kStored,       // the file's own rows or planes, in the mapping; decoded on the way
  };

  static constexpr int64_t kExpandColumns = 256;  // a multiple of every format's block

  // Packs a matrix, or a stack of matrices of one shape and format. The rows are spread over `team`.
  static Result<std::shared_ptr<const CpuWeight>> pack(std::span<const backend::Stored> stack, Layout layout, ThreadTeam& team);
  static Result<std::shared_ptr<const CpuWeight>> vector(std::span<const float> values);

  // Which layout products over `format` want.
  static Layout layout_for(quant::Format format, int64_t columns, backend::Compute compute);

  // Row `row` of a matrix as float32, exactly what the format's decoder gives. `scratch` takes row_bytes.
  void read_row(int64_t row, float* out, std::byte* scratch) const;
  // Panels are counted over all matrices of a stack: matrix e has those from e * panels() on.
  // Rows [16 panel, 16 panel + 16) of a kStored weight as a float panel [columns][16]; `scratch` takes
  // [16][kExpandColumns].
  void expand_stored(int64_t panel, float* out, float* scratch) const;

  Layout layout() const { return layout_; }
  quant::Format format() const { return format_; }
  const float* floats() const { return memory_.as<float>(); }
  const std::byte* panel(int64_t i) const { return memory_.data() + static_cast<size_t>(i) * panel_bytes_; }
  int64_t panels() const { return (rows_ + kPanelRows - 1) / kPanelRows; }
  int64_t superblocks() const { return superblocks_; }
  size_t row_bytes() const { return row_bytes_; }
  // The factor on products with panel `i`.
  float scale(int64_t i) const { return scales_.empty() ? 1 : scales_[static_cast<size_t>(i / panels())]; }

 private:
  CpuWeight(int64_t rows, int64_t columns) : Weight(rows, columns, 0) {}
  // Columns `column` to `column + count` of a row of matrix `matrix` of a kStored weight.
  void decode_stored(size_t matrix, int64_t row, int64_t column, int64_t count, float* out) const;
  // Copies the rows of panel `index` of a stack to their place.
  void pack_panel_of(std::span<const backend::Stored> stack, int64_t index);

  Layout layout_ = Layout::kVector;
  quant::Format format_ = quant::Format::f32;
  Memory memory_;
  std::vector<std::span<const std::byte>> stored_;  // by matrix
  std::vector<quant::Planes> planes_;               // likewise, of Format::planes
  const PanelLayout* panel_layout_ = nullptr;
  std::vector<float> scales_;  // by matrix; empty where all are 1
  size_t panel_bytes_ = 0, row_bytes_ = 0;
  int64_t superblocks_ = 0;
};

}  // namespace kapitsa::cpu
