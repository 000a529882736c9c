#include "backend/cpu/pack/cpu_weight.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace kapitsa::cpu {
namespace {

using quant::Format;

bool is_float(Format f) { return f == Format::f32 || f == Format::f16 || f == Format::bf16; }

void pack_float_panel(const std::byte* const* rows, int64_t columns, size_t size, std::byte* out) {
  for (int r = 0; r < kPanelRows; ++r) {
    if (rows[r] == nullptr) continue;
    if (size == 2) {
      const auto* from = reinterpret_cast<const uint8_t*>(rows[r]);
      for (int64_t k = 0; k < columns; ++k) std::memcpy(out + (k * kPanelRows + r) * 2, from + 2 * k, 2);
    } else {
      for (int64_t k = 0; k < columns; ++k) std::memcpy(out + (k * kPanelRows + r) * 4, rows[r] + 4 * k, 4);
    }
  }
}

}  // namespace

CpuWeight::Layout CpuWeight::layout_for(Format format, int64_t columns, backend::Compute compute) {
  if (is_float(format)) return Layout::kFloatPanels;
  const PanelLayout* panel = panel_layout(format);
  const bool whole = panel && columns % (kBlock * panel->blocks) == 0;
  return whole && compute == backend::Compute::kDefault ? Layout::kQuantPanels : Layout::kStored;
}

Result<std::shared_ptr<const CpuWeight>> CpuWeight::vector(std::span<const float> values) {
  auto w = std::shared_ptr<CpuWeight>(new CpuWeight(1, static_cast<int64_t>(values.size())));
  w->bytes_ = values.size_bytes();
  // Kernels read whole registers: the end is padded.
  KAPITSA_ASSIGN(w->memory_, Memory::allocate(values.size_bytes() + 64, false));
  std::memcpy(w->memory_.data(), values.data(), values.size_bytes());
  return std::shared_ptr<const CpuWeight>(std::move(w));
}

void CpuWeight::pack_panel_of(std::span<const backend::Stored> stack, int64_t index) {
  const backend::Stored& stored = stack[static_cast<size_t>(index / panels())];
  const std::byte* rows[kPanelRows];
  for (int r = 0; r < kPanelRows; ++r) {
    const int64_t row = index % panels() * kPanelRows + r;
    rows[r] = row < rows_ ? stored.bytes.data() + static_cast<size_t>(row) * row_bytes_ : nullptr;
  }
  std::byte* out = memory_.data() + static_cast<size_t>(index) * panel_bytes_;
  if (layout_ == Layout::kQuantPanels) {
    pack_panel(*panel_layout_, row_bytes_ / static_cast<size_t>(superblocks_), rows, superblocks_, reinterpret_cast<uint8_t*>(out));
  } else {
    pack_float_panel(rows, columns_, static_cast<size_t>(quant::info(format_).block_bytes), out);
  }
}

Result<std::shared_ptr<const CpuWeight>> CpuWeight::pack(std::span<const backend::Stored> stack, Layout layout, ThreadTeam& team) {
  const backend::Stored& first = stack[0];
  auto w = std::shared_ptr<CpuWeight>(new CpuWeight(first.rows, first.columns));
  w->layout_ = layout;
  w->format_ = first.format;
  w->experts_ = static_cast<int>(stack.size());
  if (std::any_of(stack.begin(), stack.end(), [](const auto& stored) { return stored.scale != 1; })) {
    for (const backend::Stored& stored : stack) w->scales_.push_back(stored.scale);
  }
  w->row_bytes_ = quant::row_bytes(first.format, static_cast<size_t>(first.columns));
  const auto& info = quant::info(first.format);
  if (first.columns % info.block_elements != 0) {
    return error(Code::kCorrupt, "rows of {} weights do not divide into {} blocks of {}", first.columns, info.name, info.block_elements);
  }
  for (const backend::Stored& stored : stack) {
    if (stored.planes && first.planes && stored.rows == first.rows && stored.columns == first.columns) continue;
    if (stored.format != first.format || stored.rows != first.rows || stored.columns != first.columns) {
      return error(Code::kCorrupt, "a stack of {} by {} {} matrices holds one of {} by {} {}", first.rows, first.columns,
                   info.name, stored.rows, stored.columns, quant::info(stored.format).name);
    }
    if (w->row_bytes_ == 0 || w->row_bytes_ * static_cast<size_t>(stored.rows) != stored.bytes.size()) {
      return error(Code::kCorrupt, "{} rows of {} {} weights take {} bytes each, {} bytes were given", stored.rows, stored.columns,
                   info.name, w->row_bytes_, stored.bytes.size());
    }
  }
  if (layout == Layout::kStored) {
    for (const backend::Stored& stored : stack) {
      if (stored.planes) w->planes_.push_back(*stored.planes);
      else w->stored_.push_back(stored.bytes);
      w->bytes_ += stored.stored_bytes();
    }
    return std::shared_ptr<const CpuWeight>(std::move(w));
  }
  if (layout == Layout::kQuantPanels) {
    w->panel_layout_ = panel_layout(first.format);
    w->superblocks_ = first.columns / (kBlock * w->panel_layout_->blocks);
    w->panel_bytes_ = static_cast<size_t>(w->superblocks_ * w->panel_layout_->superblock_bytes());
  } else {
    w->panel_bytes_ = static_cast<size_t>(first.columns) * kPanelRows * static_cast<size_t>(quant::info(first.format).block_bytes);
  }
  const int64_t panels = w->panels() * static_cast<int64_t>(stack.size());
  w->bytes_ = w->panel_bytes_ * static_cast<size_t>(panels);
  // The kernels prefetch and read whole registers past the end.
  KAPITSA_ASSIGN(w->memory_, Memory::allocate(w->bytes_ + 4096, true));

  constexpr int64_t kBatch = 64;  // panels packed between two releases of the file's pages
  std::atomic<int64_t> next{0};
  team.run([&](int) {
    for (int64_t begin; (begin = next.fetch_add(kBatch)) < panels;) {
      const int64_t end = std::min(begin + kBatch, panels);
      for (int64_t p = begin; p < end; ++p) w->pack_panel_of(stack, p);
      // Of each matrix the rows of these panels.
      for (int64_t p = begin; p < end;) {
        const int64_t matrix = p / w->panels(), last = std::min(end, (matrix + 1) * w->panels());
        const backend::Stored& stored = stack[static_cast<size_t>(matrix)];
        const int64_t row = (p - matrix * w->panels()) * kPanelRows;
        const int64_t rows = std::min((last - p) * kPanelRows, stored.rows - row);
        if (stored.release) {
          stored.release(stored.bytes.subspan(static_cast<size_t>(row) * w->row_bytes_, static_cast<size_t>(rows) * w->row_bytes_));
        }
        p = last;
      }
    }
  });
  return std::shared_ptr<const CpuWeight>(std::move(w));
}

void CpuWeight::decode_stored(size_t matrix, int64_t row, int64_t column, int64_t count, float* out) const {
  if (!planes_.empty()) return planes_[matrix].decode(row, column, count, out);
  const auto& info = quant::info(format_);
  const std::byte* bytes = stored_[matrix].data() + static_cast<size_t>(row) * row_bytes_ + column / info.block_elements * info.block_bytes;
  quant::decode_row(format_, bytes, static_cast<size_t>(count), out);
}

void CpuWeight::read_row(int64_t row, float* out, std::byte* scratch) const {
  if (layout_ == Layout::kVector) {
    std::memcpy(out, memory_.data(), static_cast<size_t>(columns_) * 4);
    return;
  }
  if (layout_ == Layout::kStored) {
    decode_stored(0, row, 0, columns_, out);
  } else if (layout_ == Layout::kQuantPanels) {
    unpack_row(*panel_layout_, row_bytes_ / static_cast<size_t>(superblocks_),
               reinterpret_cast<const uint8_t*>(panel(row / kPanelRows)), static_cast<int>(row % kPanelRows), superblocks_, scratch);
  } else {
    const auto size = static_cast<size_t>(quant::info(format_).block_bytes);
    const std::byte* from = panel(row / kPanelRows) + static_cast<size_t>(row % kPanelRows) * size;
    for (int64_t k = 0; k < columns_; ++k) std::memcpy(scratch + static_cast<size_t>(k) * size, from + static_cast<size_t>(k) * kPanelRows * size, size);
  }
  if (layout_ != Layout::kStored) quant::decode_row(format_, scratch, static_cast<size_t>(columns_), out);
  if (scales_.empty()) return;
  for (int64_t k = 0; k < columns_; ++k) out[k] *= scales_[0];
}

void CpuWeight::expand_stored(int64_t panel, float* out, float* scratch) const {
  const auto matrix = static_cast<size_t>(panel / panels());
  const int64_t first = panel % panels() * kPanelRows, rows = std::min<int64_t>(kPanelRows, rows_ - first);
  // A piece of every row, then their columns: both sides of the transposition stay in the first-level cache.
  for (int64_t k0 = 0; k0 < columns_; k0 += kExpandColumns) {
    const int64_t columns = std::min(columns_ - k0, kExpandColumns);
    for (int64_t r = 0; r < rows; ++r) decode_stored(matrix, first + r, k0, columns, scratch + r * kExpandColumns);
    for (int64_t r = rows; r < kPanelRows; ++r) std::memset(scratch + r * kExpandColumns, 0, static_cast<size_t>(columns) * 4);
    for (int64_t k = 0; k < columns; ++k, out += kPanelRows) {
      for (int64_t r = 0; r < kPanelRows; ++r) out[r] = scratch[r * kExpandColumns + k];
    }
  }
}

}  // namespace kapitsa::cpu
