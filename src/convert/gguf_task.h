// One tensor on its way into a GGUF file.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "convert/gguf_out.h"
#include "convert/source.h"
#include "weights/tensor_file.h"

namespace kapitsa::convert {

class GgufTask {
 public:
  // `entry`: its place in the file; that of its factors, where it has some, is the next one.
  GgufTask(Source source, const model::GgufTensor& tensor, quant::Format format, size_t entry);

  const Source& source() const { return source_; }
  size_t entry() const { return entry_; }
  // NVFP4's scales are short floats: a factor a matrix brings them into their range, and stands beside the tensor.
  const std::string& factor_name() const { return factor_name_; }

  // Takes what concerns it.
  void weigh(const Importance& importance);
  // What writes it; this must outlive it.
  Task bind(weights::TensorFile& file);

 private:
  Status copy(weights::TensorFile& file, int64_t matrix, int64_t row, int64_t count) const;
  Status encode(weights::TensorFile& file, int64_t matrix, int64_t row, int64_t count) const;
  Status copy_factors(weights::TensorFile& file) const;
  Result<float> factor(weights::TensorFile& file, int64_t matrix) const;

  Source source_;
  const model::GgufTensor* tensor_;
  quant::Format format_;
  size_t entry_;
  std::string factor_name_;
  std::vector<float> importance_;  // [matrices][columns], or empty
  struct Factor {
    std::mutex mutex;
    float value = 0;  // 0: not known yet
  };
  std::unique_ptr<Factor[]> factors_;  // by matrix
};

}  // namespace kapitsa::convert
