// Finds a family's numbers and tensors in a checkpoint, checks them and hands the tensors to the backend. The first fault
// is kept and everything after it does nothing, so that a family's loading code reads as a list of names. Where a GGUF's
// form is wanted (gguf_form.h), the same code writes it down on the way, and no value is read.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "backend/backend.h"
#include "model/gguf_form.h"
#include "model/name.h"
#include "weights/checkpoint.h"

namespace kapitsa::model {

class Loader {
 public:
  // `form` may be null.
  Loader(const weights::Checkpoint& checkpoint, backend::Backend& backend, std::function<void(double)> progress, GgufForm* form = nullptr);

  bool gguf() const { return checkpoint_.container == weights::Container::gguf; }
  const weights::Checkpoint& checkpoint() const { return checkpoint_; }
  // config.json, or the part of it that speaks of the language model.
  const Json& config() const { return config_; }
  // What stands before "layers.0." in the names of a Hugging Face checkpoint: "model.", "model.language_model.", ...
  const std::string& trunk() const { return trunk_; }

  // A number that the model cannot do without, between 1 and `limit`. For GGUF, "{arch}." stands for the architecture.
  int count(std::string_view json_key, std::string_view gguf_key, int64_t limit);
  std::optional<int> maybe_count(std::string_view json_key, std::string_view gguf_key, int64_t limit);
  std::optional<double> maybe_number(std::string_view json_key, std::string_view gguf_key);
  std::optional<bool> maybe_flag(std::string_view json_key);
  const std::vector<bool>* flags(std::string_view gguf_key) { return checkpoint_.metadata.booleans(key(gguf_key)); }
  std::optional<bool> maybe_boolean(std::string_view gguf_key) { return checkpoint_.metadata.boolean(key(gguf_key)); }
  std::optional<std::string> maybe_text(std::string_view json_key, std::string_view gguf_key);
  // A number for each of `layers` layers, where the file gives one for all or one each; 0 to `limit`. Empty: not there.
  std::vector<int> maybe_counts(std::string_view json_key, std::string_view gguf_key, int layers, int64_t limit);

  // What the files of this container call it.
  const std::string& file_name(const Name& name) const { return gguf() ? name.gguf : name.hf; }
  bool has(std::string_view tensor) const { return checkpoint_.find(tensor) != nullptr; }
  bool has(const Name& name) const { return has(file_name(name)); }
  const weights::Tensor* peek(const Name& name) const { return checkpoint_.find(file_name(name)); }

  // [rows, columns]
  backend::WeightRef matrix(const Name& name, int64_t rows, int64_t columns, backend::Use use = backend::Use::kProduct);
  // A stack of `count` experts' matrices [rows, columns]: the rows from `row` on of each matrix of `whole`, which is
  // [count, ..., columns], or, where there is no such tensor, the matrices that single(0), single(1), ... name.
  struct Stack {
    Name whole;
    std::function<std::string(int)> single;
    int64_t row = 0;
    std::string mlx;   // what MLX calls the stack
  };
  backend::WeightRef experts(const Stack& stack, int count, int64_t rows, int64_t columns);
  backend::WeightRef vector(const Name& name, int64_t size) { return upload(values(name, size)); }
  backend::WeightRef maybe_vector(const Name& name, int64_t size) { return has(name) ? vector(name, size) : nullptr; }
  // The weight of a norm, plus `offset`: some families store it less one.
  backend::Norm norm(const Name& name, int64_t size, float eps, float offset = 0);
  // A small tensor's values as they lie, whatever its axes, if there are `size` of them; `change`: what a GGUF does to them.
  std::vector<float> values(const Name& name, int64_t size, ValueChange change = {});
  // The same of a tensor that only GGUF files have.
  std::vector<float> values(const std::string& tensor, int64_t size);
  // What a family made of such values.
  backend::WeightRef upload(std::span<const float> values);

  // Facts that only a GGUF states: a key, a tensor that is computed from the config.
  void say(std::string_view gguf_key, weights::Value value) { if (form_) form_->metadata.set(std::string(gguf_key), std::move(value)); }
  void say_values(std::string gguf_name, std::vector<float> values);

  void fail(Status status) { if (status_.ok()) status_ = std::move(status); }
  const Status& status() const { return status_; }
  // Tensors of the checkpoint that nobody asked for: a family that forgets one would run, and be wrong.
  std::vector<std::string> unused() const;
  // The file has it and this family needs it not.
  void ignore(const std::string& tensor) { used_.insert(tensor); }
  void ignore(const Name& name) { ignore(file_name(name)); }
  // The same for all tensors of a part that is kept for later: a vision tower, a draft head.
  void ignore_prefix(std::string prefix) { ignored_.push_back(std::move(prefix)); }

  // What all weights that were asked for take in memory.
  size_t resident_bytes() const { return resident_bytes_; }

 private:
  std::string key(std::string_view gguf_key) const;
  // config.json's member, null where it is not there or null. Of another type than `what` says: a fault.
  const Json* member(std::string_view json_key, bool (Json::*is)() const noexcept, const char* what);
  const weights::Tensor* find(const std::string& tensor);
  backend::Stored stored(const weights::Tensor& tensor, int64_t matrix, int64_t row, int64_t rows) const;
  // NVFP4's factor a tensor, or an expert: "X.scale" beside "X.weight" in a GGUF, where it is not 1.
  std::vector<float> scales(const std::string& tensor, int count);
  backend::WeightRef keep(Result<backend::WeightRef> weight, const std::string& name, size_t file_bytes);
  void write_down(const Name& name, GgufTensor::Kind kind, std::vector<int64_t> shape, std::vector<GgufTensor::Piece> pieces,
                  std::string mlx, ValueChange change = {});

  const weights::Checkpoint& checkpoint_;
  backend::Backend& backend_;
  std::function<void(double)> progress_;
  GgufForm* form_;
  size_t packed_bytes_ = 0;
  size_t resident_bytes_ = 0;
  const Json& config_;
  std::string trunk_;
  std::set<std::string> used_;
  std::vector<std::string> ignored_;
  Status status_;
};

}  // namespace kapitsa::model
