#include "backend/cpu/pack/panel.h"

#include <cstring>

namespace kapitsa::cpu {
namespace {

// The formats of 32 weights: an f16 scale (and minimum), perhaps a word of fifth bits, then 16 bytes of nibbles, byte j
// holding weight j (low) and j + 16 (high).
template <int kHeader>
void legacy_header(const uint8_t* block, uint8_t* header) { std::memcpy(header, block, kHeader); }
template <int kHeader>
void legacy_put_header(const uint8_t* header, uint8_t* block) { std::memcpy(block, header, kHeader); }

template <int kHeader, bool kFifth>
void legacy_codes(const uint8_t* block, uint8_t* codes) {
  const uint8_t* fifth = block + kHeader;
  const uint8_t* nibbles = fifth + (kFifth ? 4 : 0);
  for (int j = 0; j < 16; ++j) {
    codes[j] = nibbles[j] & 15;
    codes[j + 16] = nibbles[j] >> 4;
  }
  if (!kFifth) return;
  for (int k = 0; k < 32; ++k) codes[k] |= static_cast<uint8_t>(((fifth[k / 8] >> (k % 8)) & 1) << 4);
}
template <int kHeader, bool kFifth>
void legacy_put_codes(const uint8_t* codes, uint8_t* block) {
  uint8_t* fifth = block + kHeader;
  uint8_t* nibbles = fifth + (kFifth ? 4 : 0);
  for (int j = 0; j < 16; ++j) {
    nibbles[j] = static_cast<uint8_t>((codes[j] & 15) | (codes[j + 16] & 15) << 4);
  }
  if (!kFifth) return;
  std::memset(fifth, 0, 4);
  for (int k = 0; k < 32; ++k) fifth[k / 8] |= static_cast<uint8_t>((codes[k] >> 4) << (k % 8));
}
void q8_codes(const uint8_t* block, uint8_t* codes) { std::memcpy(codes, block + 2, 32); }
void q8_put_codes(const uint8_t* codes, uint8_t* block) { std::memcpy(block + 2, codes, 32); }

// Q4_K and Q5_K: d, dmin, 12 bytes of 6-bit scales and minima; nibbles of groups 2i (low) and 2i + 1 (high) share 32 bytes.
void k_header(const uint8_t* block, uint8_t* header) { std::memcpy(header, block, 16); }
void k_put_header(const uint8_t* header, uint8_t* block) { std::memcpy(block, header, 16); }
template <bool kFifth>
void k_codes(const uint8_t* block, uint8_t* codes) {
  const uint8_t* fifth = block + 16;
  const uint8_t* nibbles = fifth + (kFifth ? 32 : 0);
  for (int g = 0; g < 8; ++g) {
    for (int l = 0; l < 32; ++l) {
      int code = (nibbles[32 * (g / 2) + l] >> (4 * (g % 2))) & 15;
      if (kFifth) code |= ((fifth[l] >> g) & 1) << 4;
      codes[32 * g + l] = static_cast<uint8_t>(code);
    }
  }
}
template <bool kFifth>
void k_put_codes(const uint8_t* codes, uint8_t* block) {
  uint8_t* fifth = block + 16;
  uint8_t* nibbles = fifth + (kFifth ? 32 : 0);
  std::memset(fifth, 0, kFifth ? 160 : 128);
  for (int g = 0; g < 8; ++g) {
    for (int l = 0; l < 32; ++l) {
      const int code = codes[32 * g + l];
      nibbles[32 * (g / 2) + l] |= static_cast<uint8_t>((code & 15) << (4 * (g % 2)));
      if (kFifth) fifth[l] |= static_cast<uint8_t>((code >> 4) << g);
    }
  }
}

// Q6_K: nibbles, 2-bit parts, 16 signed scales, d. The header is d, then the scales.
void q6_header(const uint8_t* block, uint8_t* header) {
  std::memcpy(header, block + 208, 2);
  std::memcpy(header + 2, block + 192, 16);
}
void q6_put_header(const uint8_t* header, uint8_t* block) {
  std::memcpy(block + 208, header, 2);
  std::memcpy(block + 192, header + 2, 16);
}
void q6_codes(const uint8_t* block, uint8_t* codes) {
  for (int i = 0; i < 256; ++i) {
    const int h = i / 128, s = i % 128 / 32, l = i % 32;
    const int low = (block[64 * h + 32 * (s & 1) + l] >> (4 * (s >> 1))) & 15;
    const int high = (block[128 + 32 * h + l] >> (2 * s)) & 3;
    codes[i] = static_cast<uint8_t>(low | high << 4);
  }
}
void q6_put_codes(const uint8_t* codes, uint8_t* block) {
  std::memset(block, 0, 192);
  for (int i = 0; i < 256; ++i) {
    const int h = i / 128, s = i % 128 / 32, l = i % 32;
    block[64 * h + 32 * (s & 1) + l] |= static_cast<uint8_t>((codes[i] & 15) << (4 * (s >> 1)));
    block[128 + 32 * h + l] |= static_cast<uint8_t>((codes[i] >> 4) << (2 * s));
  }
}

using quant::Format;
template <int kHeader, bool kFifth>
constexpr PanelLayout legacy(int second_field) {
  // The fifth bits are a code plane here, not part of the header.
  return {1, kHeader, false, kFifth ? 1 : 0, legacy_header<kHeader>, legacy_put_header<kHeader>,
          legacy_codes<kHeader, kFifth>, legacy_put_codes<kHeader, kFifth>, {2, second_field}};
}
constexpr PanelLayout kQ8_0{1, 2, true, 0, legacy_header<2>, legacy_put_header<2>, q8_codes, q8_put_codes, {2}};
constexpr PanelLayout kQ4_0 = legacy<2, false>(0);
constexpr PanelLayout kQ4_1 = legacy<4, false>(2);
constexpr PanelLayout kQ5_0 = legacy<2, true>(0);
constexpr PanelLayout kQ5_1 = legacy<4, true>(2);
constexpr PanelLayout kQ4_K{8, 16, false, 0, k_header, k_put_header, k_codes<false>, k_put_codes<false>, {2, 2, 12}};
constexpr PanelLayout kQ5_K{8, 16, false, 1, k_header, k_put_header, k_codes<true>, k_put_codes<true>, {2, 2, 12}};
constexpr PanelLayout kQ6_K{8, 18, false, 2, q6_header, q6_put_header, q6_codes, q6_put_codes, {2, 16}};

// Moves header bytes between a row's order and the panel's [field][row] order; a field longer than 2 is bytes.
template <class Move>
void each_header_byte(const PanelLayout& layout, int row, Move move) {
  int from = 0;
  for (int f = 0; f < 4 && layout.fields[f] != 0; ++f) {
    const int size = layout.fields[f];
    const int unit = size > 2 ? 1 : size;
    for (int u = 0; u < size / unit; ++u) {
      for (int b = 0; b < unit; ++b) move(from + u * unit + b, kPanelRows * (from + u * unit) + row * unit + b);
    }
    from += size;
  }
}

}  // namespace

const PanelLayout* panel_layout(Format format) {
  switch (format) {
    case Format::q8_0: return &kQ8_0;
    case Format::q4_0: return &kQ4_0;
    case Format::q4_1: return &kQ4_1;
    case Format::q5_0: return &kQ5_0;
    case Format::q5_1: return &kQ5_1;
    case Format::q4_k: return &kQ4_K;
    case Format::q5_k: return &kQ5_K;
    case Format::q6_k: return &kQ6_K;
    default: return nullptr;
  }
}

void pack_panel(const PanelLayout& layout, size_t row_superblock_bytes, const std::byte* const* rows, int64_t superblocks,
                uint8_t* panel) {
  uint8_t header[32], codes[256];
  for (int64_t s = 0; s < superblocks; ++s, panel += layout.superblock_bytes()) {
    std::memset(panel, 0, static_cast<size_t>(layout.superblock_bytes()));
    for (int row = 0; row < kPanelRows; ++row) {
      if (rows[row] == nullptr) continue;
      const auto* from = reinterpret_cast<const uint8_t*>(rows[row]) + s * row_superblock_bytes;
      layout.get_header(from, header);
      each_header_byte(layout, row, [&](int in_row, int in_panel) { panel[in_panel] = header[in_row]; });
      layout.get_codes(from, codes);
      uint8_t* block = panel + kPanelRows * layout.header;
      for (int b = 0; b < layout.blocks; ++b, block += layout.block_bytes()) {
        const uint8_t* c = codes + kBlock * b;
        if (layout.bytes) {
          for (int v = 0; v < 8; ++v) std::memcpy(block + 64 * v + 4 * row, c + 4 * v, 4);
          continue;
        }
        uint8_t* high = block + 256;
        for (int v = 0; v < 4; ++v) {
          for (int t = 0; t < 4; ++t) {
            block[64 * v + 4 * row + t] = static_cast<uint8_t>((c[4 * v + t] & 15) | (c[4 * v + 16 + t] & 15) << 4);
          }
        }
        if (layout.high_bits == 0) continue;
        for (int v = 0; v < 8; ++v) {
          for (int t = 0; t < 4; ++t) {
            const int bits = c[4 * v + t] >> 4;
            if (layout.high_bits == 1) high[4 * row + t] |= static_cast<uint8_t>(bits << v);
            else high[64 * (v % 2) + 4 * row + t] |= static_cast<uint8_t>(bits << (2 * (v / 2)));
          }
        }
      }
    }
  }
}

void unpack_row(const PanelLayout& layout, size_t row_superblock_bytes, const uint8_t* panel, int row, int64_t superblocks,
                std::byte* out) {
  uint8_t header[32], codes[256];
  for (int64_t s = 0; s < superblocks; ++s, panel += layout.superblock_bytes()) {
    auto* to = reinterpret_cast<uint8_t*>(out) + s * row_superblock_bytes;
    each_header_byte(layout, row, [&](int in_row, int in_panel) { header[in_row] = panel[in_panel]; });
    const uint8_t* block = panel + kPanelRows * layout.header;
    for (int b = 0; b < layout.blocks; ++b, block += layout.block_bytes()) {
      for (int k = 0; k < kBlock; ++k) {
        const int v = k / 4, i = 4 * row + k % 4;
        int code;
        if (layout.bytes) code = block[64 * v + i];
        else code = (block[64 * (v % 4) + i] >> (v < 4 ? 0 : 4)) & 15;
        if (layout.high_bits == 1) code |= ((block[256 + i] >> v) & 1) << 4;
        if (layout.high_bits == 2) code |= ((block[256 + 64 * (v % 2) + i] >> (2 * (v / 2))) & 3) << 4;
        codes[kBlock * b + k] = static_cast<uint8_t>(code);
      }
    }
    layout.put_codes(codes, to);
    layout.put_header(header, to);
  }
}

}  // namespace kapitsa::cpu
