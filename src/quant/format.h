// What every storage format says of itself at run time. The formats stand one a header beside this
// file; formats.def lists them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kapitsa::quant {

enum class Format : uint8_t {
#define KAPITSA_FORMAT(id, name, gguf) id,
#include "quant/formats.def"
#undef KAPITSA_FORMAT
  planes,  // no blocks: codes and scales lie apart (planes.h)
};

// A format's row is `columns / block_elements` blocks of `block_bytes`, one after another.
struct FormatInfo {
  std::string_view name;  // "Q4_K"
  int gguf_type;          // type id in a GGUF file
  int block_elements;     // weights in a block: 1, 32, 256
  int block_bytes;
  // Decodes `blocks` consecutive blocks to float32, the value the format's own library gives, bit
  // for bit.
  void (*decode)(const std::byte* blocks, size_t count, float* out);
  // Encodes `count` blocks from float32; null where this build only reads the format. What is made small is the sum of
  // importance * (difference squared): `importance` has a number >= 0 for each weight, the mean square of what the weight is
  // multiplied with; null: all count alike.
  void (*encode)(const float* in, const float* importance, size_t count, std::byte* blocks);

  double bits_per_weight() const { return 8.0 * block_bytes / block_elements; }
};

const FormatInfo& info(Format format);
std::optional<Format> from_gguf_type(uint32_t type);
std::optional<Format> from_name(std::string_view name);

// Bytes of a row of `columns` weights; 0 where columns is no multiple of the block.
size_t row_bytes(Format format, size_t columns);

// Decodes a row of `columns` weights (a multiple of the block).
inline void decode_row(Format format, const std::byte* row, size_t columns, float* out) {
  const FormatInfo& f = info(format);
  f.decode(row, columns / f.block_elements, out);
}

}  // namespace kapitsa::quant
