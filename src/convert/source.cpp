#include "convert/source.h"

#include <cmath>
#include <cstring>

#include "quant/format.h"

namespace kapitsa::convert {
namespace {

using model::GgufTensor;
using model::ValueChange;

std::span<const std::byte> row_bytes_of(const weights::Tensor& t, int64_t row, int64_t count) {
  const size_t size = quant::row_bytes(t.format, static_cast<size_t>(t.columns()));
  return t.bytes.subspan(static_cast<size_t>(row) * size, static_cast<size_t>(count) * size);
}

// The row of the stored tensor, counted over all its axes but the last.
int64_t stored_row(const weights::Tensor& t, const GgufTensor::Piece& piece, int64_t row) {
  const int64_t matrix_rows = t.shape.size() > 2 ? t.shape[t.shape.size() - 2] : t.rows();
  return piece.matrix * matrix_rows + piece.row + row;
}

void change(const ValueChange& how, std::span<float> values) {
  for (float& x : values) {
    if (how.kind == ValueChange::Kind::kAdd) x += how.amount;
    if (how.kind == ValueChange::Kind::kMinusExp) x = static_cast<float>(-std::exp(double{x}));
  }
}

// All values of a small tensor, in the form's order.
std::vector<float> vector_values(const GgufTensor& tensor, const weights::Tensor* stored) {
  if (!stored) return tensor.values;
  std::vector<float> flat(static_cast<size_t>(stored->rows() * stored->columns()));
  const auto columns = static_cast<size_t>(stored->columns());
  for (int64_t r = 0; r < stored->rows(); ++r) {
    stored->decode_row(r, flat.data() + static_cast<size_t>(r) * columns);
  }
  change(tensor.change, flat);
  if (tensor.rows.empty()) return flat;
  // An order of rows; of values where there is one axis.
  const size_t width = tensor.shape.size() > 1 ? static_cast<size_t>(tensor.shape.back()) : 1;
  std::vector<float> out(flat.size());
  for (size_t i = 0; i < tensor.rows.size(); ++i) {
    std::memcpy(out.data() + i * width, flat.data() + static_cast<size_t>(tensor.rows[i]) * width, width * sizeof(float));
  }
  return out;
}

}  // namespace

Result<Source> Source::of(const weights::Checkpoint& checkpoint, const GgufTensor& tensor) {
  Source out;
  out.tensor_ = &tensor;
  for (const auto& piece : tensor.pieces) {
    KAPITSA_ASSIGN(const weights::Tensor* stored, checkpoint.require(piece.tensor));
    out.stored_.push_back(stored);
  }
  const auto axes = tensor.shape.size();
  out.columns_ = axes > 0 ? tensor.shape[axes - 1] : 1;
  out.rows_ = axes > 1 ? tensor.shape[axes - 2] : 1;
  for (size_t i = 0; i + 2 < axes; ++i) out.matrices_ *= tensor.shape[i];
  if (tensor.kind == GgufTensor::Kind::kVector) {
    out.values_ = vector_values(tensor, out.stored_.empty() ? nullptr : out.stored_[0]);
    return out;
  }
  out.format_ = out.stored_[0]->format;
  out.verbatim_ = !out.stored_[0]->planes && tensor.columns.empty() && tensor.change.kind == ValueChange::Kind::kNone && tensor.rows.empty();
  for (const auto* stored : out.stored_) out.verbatim_ = out.verbatim_ && stored->format == out.format_;
  KAPITSA_RETURN_IF_ERROR(out.read_factors(checkpoint));
  return out;
}

double Source::bits() const {
  if (stored_.empty()) return 32;
  const auto& t = *stored_[0];
  return 8.0 * static_cast<double>(t.stored_bytes()) / static_cast<double>(t.rows() * t.columns());
}

Status Source::read_factors(const weights::Checkpoint& checkpoint) {
  constexpr std::string_view kWeight = ".weight";
  const weights::Tensor& weight = *stored_[0];
  if (checkpoint.container != weights::Container::gguf || !weight.name.ends_with(kWeight)) return {};
  const auto* beside = checkpoint.find(weight.name.substr(0, weight.name.size() - kWeight.size()) + ".scale");
  if (!beside) return {};
  const int64_t count = beside->rows() * beside->columns();
  if (count != matrices_) {
    return error(Code::kCorrupt, "{}: the tensor {} has {} values; one for each of {} matrices was expected", checkpoint.path, beside->name,
                 count, matrices_);
  }
  factors_.resize(static_cast<size_t>(count));
  for (int64_t r = 0; r < beside->rows(); ++r) {
    beside->decode_row(r, factors_.data() + r * beside->columns());
  }
  for (const float f : factors_) {
    if (!std::isfinite(f)) return error(Code::kCorrupt, "{}: {} is {}, no finite number", checkpoint.path, beside->name, f);
  }
  return {};
}

void Source::read_one(int64_t matrix, int64_t row, float* out) const {
  const auto& t = *stored_[static_cast<size_t>(matrix)];
  const auto& piece = tensor_->pieces[static_cast<size_t>(matrix)];
  const int64_t from = tensor_->rows.empty() ? row : tensor_->rows[static_cast<size_t>(row)];
  t.decode_row(stored_row(t, piece, from), out);
  if (const float by = factor(matrix); by != 1) {
    for (int64_t k = 0; k < columns_; ++k) out[k] *= by;
  }
}

void Source::read(int64_t matrix, int64_t row, int64_t count, float* out) const {
  if (stored_.empty() || !values_.empty()) {
    std::memcpy(out, values_.data() + (matrix * rows_ + row) * columns_, static_cast<size_t>(count * columns_) * sizeof(float));
    return;
  }
  std::vector<float> straight(tensor_->columns.empty() ? 0 : static_cast<size_t>(columns_));
  for (int64_t r = 0; r < count; ++r, out += columns_) {
    if (straight.empty()) {
      read_one(matrix, row + r, out);
      continue;
    }
    read_one(matrix, row + r, straight.data());
    for (size_t k = 0; k < straight.size(); ++k) out[k] = straight[static_cast<size_t>(tensor_->columns[k])];
  }
}

std::span<const std::byte> Source::bytes(int64_t matrix, int64_t row, int64_t count) const {
  const auto& t = *stored_[static_cast<size_t>(matrix)];
  return row_bytes_of(t, stored_row(t, tensor_->pieces[static_cast<size_t>(matrix)], row), count);
}

void Source::release(int64_t matrix, int64_t row, int64_t count) const {
  // Rows in another order are still wanted by others.
  if (stored_.empty() || !tensor_->rows.empty()) return;
  const auto& t = *stored_[static_cast<size_t>(matrix)];
  if (!t.file) return;
  if (!t.planes) return t.file->drop(bytes(matrix, row, count));
  const size_t size = t.planes->row_bytes();
  const int64_t first = stored_row(t, tensor_->pieces[static_cast<size_t>(matrix)], row);
  t.file->drop(t.planes->codes.subspan(static_cast<size_t>(first) * size, static_cast<size_t>(count) * size));
}

}  // namespace kapitsa::convert
