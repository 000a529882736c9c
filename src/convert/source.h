// Reads the rows of an output tensor out of a checkpoint, as float32, in the order and with the change that its form says.
#pragma once

#include <span>
#include <vector>

#include "base/status.h"
#include "model/gguf_form.h"
#include "weights/checkpoint.h"

namespace kapitsa::convert {

class Source {
 public:
  // Both must outlive it. Errors: kNotFound (the form names a tensor that the checkpoint lacks), kCorrupt (not one finite
  // factor a matrix).
  static Result<Source> of(const weights::Checkpoint& checkpoint, const model::GgufTensor& tensor);

  int64_t matrices() const { return matrices_; }  // of a stack; else 1
  int64_t rows() const { return rows_; }          // of a matrix
  int64_t columns() const { return columns_; }
  // The format that all of it has, where it is copied as it is; f32 where it is made.
  quant::Format format() const { return format_; }
  // That the checkpoint spends on a weight.
  double bits() const;
  // Whether bytes can be copied: nothing is reordered or changed. The factors go with them.
  bool verbatim() const { return verbatim_; }

  // What the file says beside the tensor that all values of matrix `matrix` are to be multiplied by (a GGUF's "X.scale");
  // read() has done it, bytes() have it not.
  float factor(int64_t matrix) const { return factors_.empty() ? 1 : factors_[static_cast<size_t>(matrix)]; }
  bool has_factors() const { return !factors_.empty(); }

  // Rows `row` to `row + count` of matrix `matrix` as float32.
  void read(int64_t matrix, int64_t row, int64_t count, float* out) const;
  // The same rows as the file has them; only where verbatim().
  std::span<const std::byte> bytes(int64_t matrix, int64_t row, int64_t count) const;
  // These rows will not be read again.
  void release(int64_t matrix, int64_t row, int64_t count) const;

 private:
  Source() = default;
  Status read_factors(const weights::Checkpoint& checkpoint);
  void read_one(int64_t matrix, int64_t row, float* out) const;

  const model::GgufTensor* tensor_ = nullptr;
  std::vector<const weights::Tensor*> stored_;  // by piece
  std::vector<float> values_;                   // of a vector: all, ready
  std::vector<float> factors_;                  // by matrix, or empty: all 1
  int64_t matrices_ = 1, rows_ = 1, columns_ = 1;
  quant::Format format_ = quant::Format::f32;
  bool verbatim_ = false;
};

}  // namespace kapitsa::convert
