// How a quantised matrix lies in memory for the CPU's kernels: panels of 16 output rows, blocks of 32 inputs, the
// rows of a block side by side, so that one register holds 16 outputs' codes and no sum crosses lanes.
//
// A panel is a sequence of superblocks: the header's fields, each transposed to [16 rows], then for each block of 32
// inputs its code planes. Codes are numbered (k / 4) * 64 + row * 4 + k % 4: eight registers of 64 codes, register v
// holding inputs 4v..4v+3, which is the order of the dot-product instructions (VNNI, AMX).
//   nibble plane, 256 bytes: byte j holds code j (low) and code j + 256 (high)
//   1-bit plane, 64 bytes:   bit v of byte i belongs to code 64 v + i
//   2-bit plane, 128 bytes:  bits 2(v/2).. of byte 64 (v % 2) + i belong to code 64 v + i
//   byte plane, 512 bytes:   byte j is code j
// The size is that of the file, to the byte (rows rounded up to 16).
#pragma once

#include <cstddef>
#include <cstdint>

#include "quant/format.h"

namespace kapitsa::cpu {

inline constexpr int kPanelRows = 16;
inline constexpr int kBlock = 32;
inline constexpr int kBlockCodes = kPanelRows * kBlock;

struct PanelLayout {
  int blocks;             // of 32 inputs in a superblock: 1 or 8
  int header;             // bytes a row: what stands beside the codes
  bool bytes;             // a byte plane (8-bit codes) instead of a nibble plane
  int high_bits;          // 0, 1 or 2 bits beyond the nibble
  // Copies the header of a row's superblock in the order in which the kernels want it, and back.
  void (*get_header)(const uint8_t* superblock, uint8_t* header);
  void (*put_header)(const uint8_t* header, uint8_t* superblock);
  // A row's codes of one superblock, in input order, and back.
  void (*get_codes)(const uint8_t* superblock, uint8_t* codes);
  void (*put_codes)(const uint8_t* codes, uint8_t* superblock);
  // Bytes of each header field, in order; 0 ends the list. A field of 12 is 12 fields of 1.
  int fields[4];

  constexpr int block_bytes() const { return bytes ? 512 : 256 + 64 * high_bits; }
  constexpr int superblock_bytes() const { return kPanelRows * header + blocks * block_bytes(); }
};

// The layout of `format`, or null where it has none: its rows are then kept as stored and decoded on the way.
const PanelLayout* panel_layout(quant::Format format);

// Packs 16 rows of `superblocks` superblocks, rows[i] null for a row past the matrix's end (it becomes zeros).
void pack_panel(const PanelLayout& layout, size_t row_superblock_bytes, const std::byte* const* rows, int64_t superblocks,
                uint8_t* panel);

// The stored bytes of row `row` (0..15) of a panel, exactly as the file had them.
void unpack_row(const PanelLayout& layout, size_t row_superblock_bytes, const uint8_t* panel, int row, int64_t superblocks,
                std::byte* out);

}  // namespace kapitsa::cpu
