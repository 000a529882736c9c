// Matrices whose codes, scales and biases lie in tensors of their own, as safetensors checkpoints store them: MLX's affine
// codes, FP8, and the 4-bit floats and integers of several libraries are all one equation,
//
//   w[n, k] = factor * scale[n / scale_rows, k / group] * code[n, k] + bias[n, k / group]
//
// with the scale and the factor multiplied first. The libraries' own decoders give the same float32, bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace kapitsa::quant {

struct Planes {
  enum class Code : uint8_t {
    kUnsigned,        // less `offset`
    kTwosComplement,
    kFp4,             // E2M1
    kFp8,             // E4M3, without infinities; 0x7f and 0xff are NaN
  };
  enum class Scale : uint8_t { kNone, kF32, kF16, kBF16, kE4M3, kE8M0 };

  Code code = Code::kUnsigned;
  int bits = 8;            // of a code: 2 to 6 or 8; a row is one stream of them from the lowest bit of its first byte on
  int offset = 0;
  int64_t columns = 0;     // a row's codes fill whole bytes
  int64_t group = 0;       // columns that share a scale
  int64_t scale_rows = 1;  // rows that do; all rows of a matrix where it is 0
  Scale scale = Scale::kNone;  // the type of scales and biases
  double factor = 1;
  std::span<const std::byte> codes, scales, biases;  // biases may be empty
  int64_t first = 0;       // the row of the planes that row 0 is

  int64_t groups() const { return (columns + group - 1) / group; }
  size_t row_bytes() const { return static_cast<size_t>(columns * bits / 8); }
  // Rows of the scales' plane for a matrix of `rows` rows.
  int64_t scale_count(int64_t rows) const { return scale_rows == 0 ? 1 : (rows + scale_rows - 1) / scale_rows; }
  // What all planes take together.
  size_t bytes() const { return codes.size() + scales.size() + biases.size(); }

  // Matrix `index` of a stack of matrices of `rows` rows each.
  Planes matrix(int64_t index, int64_t rows) const;
  // The rows from `row` on.
  Planes from(int64_t row) const;

  // Weights `column` to `column + count` of row `row` as float32.
  void decode(int64_t row, int64_t column, int64_t count, float* out) const;

  // "4-bit affine, groups of 64", "NVFP4", "FP8".
  std::string name() const;
};

size_t scale_bytes(Planes::Scale scale);

}  // namespace kapitsa::quant
