#include "convert/gguf_task.h"

#include <cmath>

namespace kapitsa::convert {
namespace {

constexpr float kLargestNvfp4 = 6.0f * 448.0f;

}  // namespace

GgufTask::GgufTask(Source source, const model::GgufTensor& tensor, quant::Format format, size_t entry)
    : source_(std::move(source)), tensor_(&tensor), format_(format), entry_(entry) {
  if (format != quant::Format::nvfp4) return;
  factor_name_ = tensor.name.substr(0, tensor.name.size() - std::string_view("weight").size()) + "scale";
  factors_ = std::make_unique<Factor[]>(static_cast<size_t>(source_.matrices()));
}

void GgufTask::weigh(const Importance& importance) {
  if (tensor_->kind == model::GgufTensor::Kind::kVector) return;
  const auto columns = static_cast<size_t>(source_.columns());
  std::vector<float> all;
  for (const auto& piece : tensor_->pieces) {
    const auto found = importance.find(piece.tensor);
    if (found == importance.end()) return;
    const size_t at = found->second.size() == columns ? 0 : static_cast<size_t>(piece.matrix) * columns;
    if (found->second.size() < at + columns) return;
    for (size_t k = 0; k < columns; ++k) {
      const size_t from = tensor_->columns.empty() ? k : static_cast<size_t>(tensor_->columns[k]);
      all.push_back(found->second[at + from]);
    }
  }
  importance_ = std::move(all);
}

Task GgufTask::bind(weights::TensorFile& file) {
  Task task{source_.matrices(), source_.rows(), source_.columns(), nullptr, nullptr};
  const bool copied = source_.verbatim() && source_.format() == format_ && (factors_ || !source_.has_factors());
  task.run = [this, &file, copied](int64_t matrix, int64_t row, int64_t count) {
    const Status status = copied ? copy(file, matrix, row, count) : encode(file, matrix, row, count);
    source_.release(matrix, row, count);
    return status;
  };
  task.whole = [this, &file, copied]() -> Status {
    if (copied && factors_) KAPITSA_RETURN_IF_ERROR(copy_factors(file));
    return file.whole(entry_);
  };
  return task;
}

Status GgufTask::copy(weights::TensorFile& file, int64_t matrix, int64_t row, int64_t count) const {
  const size_t row_bytes = quant::row_bytes(format_, static_cast<size_t>(source_.columns()));
  return file.write(entry_, static_cast<uint64_t>(matrix * source_.rows() + row) * row_bytes, source_.bytes(matrix, row, count));
}

Status GgufTask::copy_factors(weights::TensorFile& file) const {
  std::vector<float> factors;
  for (int64_t m = 0; m < source_.matrices(); ++m) factors.push_back(source_.factor(m));
  return file.write(entry_ + 1, 0, std::as_bytes(std::span(factors)));
}

// The first thread that needs it looks the whole matrix through.
Result<float> GgufTask::factor(weights::TensorFile& file, int64_t matrix) const {
  Factor& f = factors_[static_cast<size_t>(matrix)];
  const std::lock_guard lock(f.mutex);
  if (f.value != 0) return f.value;
  float largest = 0;
  std::vector<float> values(static_cast<size_t>(source_.columns()));
  for (int64_t row = 0; row < source_.rows(); ++row) {
    source_.read(matrix, row, 1, values.data());
    for (const float x : values) largest = std::max(largest, std::fabs(x));
  }
  f.value = largest > 0 && std::isfinite(largest) ? largest / kLargestNvfp4 : 1;
  KAPITSA_RETURN_IF_ERROR(file.write(entry_ + 1, static_cast<uint64_t>(matrix) * 4, std::as_bytes(std::span(&f.value, 1))));
  return f.value;
}

Status GgufTask::encode(weights::TensorFile& file, int64_t matrix, int64_t row, int64_t count) const {
  const auto columns = static_cast<size_t>(source_.columns());
  const auto& info = quant::info(format_);
  const size_t row_bytes = quant::row_bytes(format_, columns);
  std::vector<float> values(static_cast<size_t>(count) * columns);
  std::vector<std::byte> blocks(static_cast<size_t>(count) * row_bytes);
  source_.read(matrix, row, count, values.data());
  if (factors_) {
    KAPITSA_ASSIGN(const float divisor, factor(file, matrix));
    for (float& x : values) x /= divisor;
  }
  const float* importance = importance_.empty() ? nullptr : importance_.data() + static_cast<size_t>(matrix) * columns;
  for (size_t r = 0; r < static_cast<size_t>(count); ++r) {
    info.encode(values.data() + r * columns, importance, columns / static_cast<size_t>(info.block_elements), blocks.data() + r * row_bytes);
  }
  return file.write(entry_, static_cast<uint64_t>(matrix * source_.rows() + row) * row_bytes, blocks);
}

}  // namespace kapitsa::convert
