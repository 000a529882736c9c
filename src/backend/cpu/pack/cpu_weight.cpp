#include "backend/cpu/pack/cpu_weight.h"

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

Result<std::shared_ptr<const CpuWeight>> CpuWeight::pack(const backend::Stored& stored, Layout layout, ThreadTeam& team) {
  auto w = std::shared_ptr<CpuWeight>(new CpuWeight(stored.rows, stored.columns));
  w->layout_ = layout;
  w->format_ = stored.format;
  w->row_bytes_ = quant::row_bytes(stored.format, static_cast<size_t>(stored.columns));
  const auto& info = quant::info(stored.format);
  if (stored.columns % info.block_elements != 0) {
    return error(Code::kCorrupt, "rows of {} weights do not divide into {} blocks of {}", stored.columns, info.name,
                 info.block_elements);
  }
  if (w->row_bytes_ == 0 || w->row_bytes_ * static_cast<size_t>(stored.rows) != stored.bytes.size()) {
    return error(Code::kCorrupt, "{} rows of {} {} weights take {} bytes each, {} bytes were given", stored.rows, stored.columns,
                 info.name, w->row_bytes_, stored.bytes.size());
  }
  if (layout == Layout::kStored) {
    w->stored_ = stored.bytes;
    w->bytes_ = stored.bytes.size();
    return std::shared_ptr<const CpuWeight>(std::move(w));
  }
  size_t superblock_bytes = 0;
  const size_t element = layout == Layout::kFloatPanels ? static_cast<size_t>(quant::info(stored.format).block_bytes) : 0;
  if (layout == Layout::kQuantPanels) {
    w->panel_layout_ = panel_layout(stored.format);
    w->superblocks_ = stored.columns / (kBlock * w->panel_layout_->blocks);
    superblock_bytes = w->row_bytes_ / static_cast<size_t>(w->superblocks_);
    w->panel_bytes_ = static_cast<size_t>(w->superblocks_ * w->panel_layout_->superblock_bytes());
  } else {
    w->panel_bytes_ = static_cast<size_t>(stored.columns) * kPanelRows * element;
  }
  w->bytes_ = w->panel_bytes_ * static_cast<size_t>(w->panels());
  // The kernels prefetch and read whole registers past the end.
  KAPITSA_ASSIGN(w->memory_, Memory::allocate(w->bytes_ + 4096, true));

  constexpr int64_t kBatch = 64;  // panels packed between two releases of the file's pages
  std::atomic<int64_t> next{0};
  team.run([&](int) {
    for (int64_t begin; (begin = next.fetch_add(kBatch)) < w->panels();) {
      const int64_t end = std::min(begin + kBatch, w->panels());
      for (int64_t p = begin; p < end; ++p) {
        const std::byte* rows[kPanelRows];
        for (int r = 0; r < kPanelRows; ++r) {
          const int64_t row = p * kPanelRows + r;
          rows[r] = row < stored.rows ? stored.bytes.data() + static_cast<size_t>(row) * w->row_bytes_ : nullptr;
        }
        std::byte* out = w->memory_.data() + static_cast<size_t>(p) * w->panel_bytes_;
        if (layout == Layout::kQuantPanels) {
          pack_panel(*w->panel_layout_, superblock_bytes, rows, w->superblocks_, reinterpret_cast<uint8_t*>(out));
        } else {
          pack_float_panel(rows, stored.columns, element, out);
        }
      }
      if (stored.release) {
        const auto from = static_cast<size_t>(begin * kPanelRows) * w->row_bytes_;
        const auto to = static_cast<size_t>(std::min(end * kPanelRows, stored.rows)) * w->row_bytes_;
        stored.release(stored.bytes.subspan(from, to - from));
      }
    }
  });
  return std::shared_ptr<const CpuWeight>(std::move(w));
}

void CpuWeight::read_row(int64_t row, float* out, std::byte* scratch) const {
  if (layout_ == Layout::kVector) {
    std::memcpy(out, memory_.data(), static_cast<size_t>(columns_) * 4);
    return;
  }
  const std::byte* bytes = scratch;
  if (layout_ == Layout::kStored) {
    bytes = stored_.data() + static_cast<size_t>(row) * row_bytes_;
  } else if (layout_ == Layout::kQuantPanels) {
    unpack_row(*panel_layout_, row_bytes_ / static_cast<size_t>(superblocks_),
               reinterpret_cast<const uint8_t*>(panel(row / kPanelRows)), static_cast<int>(row % kPanelRows), superblocks_, scratch);
  } else {
    const auto size = static_cast<size_t>(quant::info(format_).block_bytes);
    const std::byte* from = panel(row / kPanelRows) + static_cast<size_t>(row % kPanelRows) * size;
    for (int64_t k = 0; k < columns_; ++k) std::memcpy(scratch + static_cast<size_t>(k) * size, from + static_cast<size_t>(k) * kPanelRows * size, size);
  }
  quant::decode_row(format_, bytes, static_cast<size_t>(columns_), out);
}

void CpuWeight::expand_stored(int64_t panel, float* out, float* scratch) const {
  const auto& info = quant::info(format_);
  const int64_t first = panel * kPanelRows, rows = std::min<int64_t>(kPanelRows, rows_ - first);
  // A piece of every row, then their columns: both sides of the transposition stay in the first-level cache.
  for (int64_t k0 = 0; k0 < columns_; k0 += kExpandColumns) {
    const int64_t columns = std::min(columns_ - k0, kExpandColumns);
    for (int64_t r = 0; r < rows; ++r) {
      const std::byte* row = stored_.data() + static_cast<size_t>(first + r) * row_bytes_;
      const int64_t block = k0 / info.block_elements * info.block_bytes;
      quant::decode_row(format_, row + block, static_cast<size_t>(columns), scratch + r * kExpandColumns);
    }
    for (int64_t r = rows; r < kPanelRows; ++r) std::memset(scratch + r * kExpandColumns, 0, static_cast<size_t>(columns) * 4);
    for (int64_t k = 0; k < columns; ++k, out += kPanelRows) {
      for (int64_t r = 0; r < kPanelRows; ++r) out[r] = scratch[r * kExpandColumns + k];
    }
  }
}

}  // namespace kapitsa::cpu
