// Finds a family's numbers and tensors in a checkpoint, checks them and hands the tensors to the backend. The first fault
// is kept and everything after it does nothing, so that a family's loading code reads as a list of names.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "backend/backend.h"
#include "weights/checkpoint.h"

namespace kapitsa::model {

class Loader {
 public:
  Loader(const weights::Checkpoint& checkpoint, backend::Backend& backend, std::function<void(double)> progress)
      : checkpoint_(checkpoint), backend_(backend), progress_(std::move(progress)) {}

  bool gguf() const { return checkpoint_.container == weights::Container::gguf; }
  const weights::Checkpoint& checkpoint() const { return checkpoint_; }

  // A number that the model cannot do without, between 1 and `limit`. For GGUF, "{arch}." stands for the architecture.
  int count(std::string_view json_key, std::string_view gguf_key, int64_t limit);
  std::optional<int> maybe_count(std::string_view json_key, std::string_view gguf_key, int64_t limit);
  std::optional<double> maybe_number(std::string_view json_key, std::string_view gguf_key);
  std::optional<bool> maybe_flag(std::string_view json_key);
  std::optional<std::string> maybe_text(std::string_view json_key, std::string_view gguf_key);

  bool has(std::string_view tensor) const { return checkpoint_.find(tensor) != nullptr; }
  // [rows, columns]. `embedding`: read row by row rather than multiplied.
  backend::WeightRef matrix(const std::string& tensor, int64_t rows, int64_t columns, bool embedding = false);
  backend::WeightRef vector(const std::string& tensor, int64_t size);
  backend::WeightRef maybe_vector(const std::string& tensor, int64_t size) { return has(tensor) ? vector(tensor, size) : nullptr; }
  backend::Norm norm(const std::string& tensor, int64_t size, float eps) { return {vector(tensor, size), eps}; }
  // A small tensor's values as they are.
  std::vector<float> values(const std::string& tensor, int64_t size);

  void fail(Status status) { if (status_.ok()) status_ = std::move(status); }
  const Status& status() const { return status_; }
  // Tensors of the checkpoint that nobody asked for: a family that forgets one would run, and be wrong.
  std::vector<std::string> unused() const;
  // The file has it and this family needs it not.
  void ignore(const std::string& tensor) { used_.insert(tensor); }

 private:
  std::string key(std::string_view gguf_key) const;
  // config.json's member, null where it is not there or null. Of another type than `what` says: a fault.
  const Json* member(std::string_view json_key, bool (Json::*is)() const noexcept, const char* what);
  const weights::Tensor* find(const std::string& tensor, int64_t rows, int64_t columns);

  const weights::Checkpoint& checkpoint_;
  backend::Backend& backend_;
  std::function<void(double)> progress_;
  size_t packed_bytes_ = 0;
  std::set<std::string> used_;
  Status status_;
};

}  // namespace kapitsa::model
