#include "model/loader.h"

#include <algorithm>
#include <cmath>

namespace kapitsa::model {
namespace {

const Json& language_part(const Json& config) {
  if (!config.is_object()) return config;
  const auto part = config.find("text_config");
  return part != config.end() && part->is_object() ? *part : config;
}

}  // namespace

Loader::Loader(const weights::Checkpoint& checkpoint, backend::Backend& backend, std::function<void(double)> progress, GgufForm* form)
    : checkpoint_(checkpoint), backend_(backend), progress_(std::move(progress)), form_(form), config_(language_part(checkpoint.config)), trunk_("model.") {
  for (const char* trunk : {"model.", "model.language_model.", "language_model.model.", "backbone.", "language_model.backbone."}) {
    for (const char* embedding : {"embed_tokens.weight", "embeddings.weight"}) {
      if (has(std::string(trunk) + embedding)) trunk_ = trunk;
    }
  }
}

std::string Loader::key(std::string_view gguf_key) const {
  std::string k(gguf_key);
  if (k.rfind("{arch}", 0) == 0) {
    const std::string* arch = checkpoint_.metadata.string("general.architecture");
    k.replace(0, 6, arch ? *arch : "");
  }
  return k;
}

const Json* Loader::member(std::string_view json_key, bool (Json::*is)() const noexcept, const char* what) {
  if (json_key.empty() || !config_.is_object()) return nullptr;
  const auto it = config_.find(std::string(json_key));
  if (it == config_.end() || it->is_null()) return nullptr;
  if (((*it).*is)()) return &*it;
  fail(error(Code::kCorrupt, "{}: config.json: {} is {}, {} was expected", checkpoint_.path, json_key, it->dump().substr(0, 60), what));
  return nullptr;
}

std::optional<double> Loader::maybe_number(std::string_view json_key, std::string_view gguf_key) {
  if (gguf()) {
    if (gguf_key.empty()) return std::nullopt;
    const auto number = checkpoint_.metadata.number(key(gguf_key));
    if (!number && checkpoint_.metadata.has(key(gguf_key))) {
      fail(error(Code::kCorrupt, "{}: {} is no number", checkpoint_.path, key(gguf_key)));
    }
    return number;
  }
  const Json* number = member(json_key, &Json::is_number, "a number");
  return number ? std::optional(number->get<double>()) : std::nullopt;
}

std::optional<bool> Loader::maybe_flag(std::string_view json_key) {
  if (gguf()) return std::nullopt;
  const Json* flag = member(json_key, &Json::is_boolean, "true or false");
  return flag ? std::optional(flag->get<bool>()) : std::nullopt;
}

std::optional<std::string> Loader::maybe_text(std::string_view json_key, std::string_view gguf_key) {
  if (gguf()) {
    const std::string* text = checkpoint_.metadata.string(key(gguf_key));
    if (!text && checkpoint_.metadata.has(key(gguf_key))) {
      fail(error(Code::kCorrupt, "{}: {} is no text", checkpoint_.path, key(gguf_key)));
    }
    return text ? std::optional(*text) : std::nullopt;
  }
  const Json* text = member(json_key, &Json::is_string, "a text");
  return text ? std::optional(text->get<std::string>()) : std::nullopt;
}

std::optional<int> Loader::maybe_count(std::string_view json_key, std::string_view gguf_key, int64_t limit) {
  const auto number = maybe_number(json_key, gguf_key);
  if (!number) return std::nullopt;
  if (!(*number >= 1) || *number > static_cast<double>(limit) || *number != std::floor(*number)) {
    fail(error(Code::kCorrupt, "{}: {} is {}, a whole number from 1 to {} was expected", checkpoint_.path,
               gguf() ? key(gguf_key) : std::string(json_key), *number, limit));
    return 1;
  }
  return static_cast<int>(*number);
}

int Loader::count(std::string_view json_key, std::string_view gguf_key, int64_t limit) {
  const auto n = maybe_count(json_key, gguf_key, limit);
  if (!n) {
    fail(error(Code::kCorrupt, "{}: {} is missing", checkpoint_.path, gguf() ? key(gguf_key) : std::string(json_key)));
  }
  return n.value_or(1);
}

std::vector<int> Loader::maybe_counts(std::string_view json_key, std::string_view gguf_key, int layers, int64_t limit) {
  std::vector<int64_t> numbers;
  if (gguf()) {
    const std::string name = key(gguf_key);
    if (const auto* list = checkpoint_.metadata.integers(name)) numbers = *list;
    else if (const auto one = checkpoint_.metadata.integer(name)) numbers.assign(static_cast<size_t>(layers), *one);
  } else if (const auto it = config_.is_object() ? config_.find(std::string(json_key)) : config_.end(); config_.is_object() && it != config_.end()) {
    if (it->is_number_integer()) numbers.assign(static_cast<size_t>(layers), it->get<int64_t>());
    if (it->is_array()) {
      for (const Json& one : *it) numbers.push_back(one.is_number_integer() ? one.get<int64_t>() : -1);
    }
  }
  std::vector<int> out;
  for (const int64_t n : numbers) {
    if (n < 0 || n > limit || static_cast<int64_t>(numbers.size()) < layers) {
      fail(error(Code::kCorrupt, "{}: {} gives {} numbers and {} among them; one from 0 to {} for each of {} layers was expected",
                 checkpoint_.path, gguf() ? key(gguf_key) : std::string(json_key), numbers.size(), n, limit, layers));
      return {};
    }
    out.push_back(static_cast<int>(n));
  }
  return out;
}

const weights::Tensor* Loader::find(const std::string& tensor) {
  if (!status_.ok()) return nullptr;
  const auto required = checkpoint_.require(tensor);
  if (!required.ok()) {
    fail(required.status());
    return nullptr;
  }
  used_.insert(tensor);
  return *required;
}

backend::Stored Loader::stored(const weights::Tensor& t, int64_t matrix, int64_t row, int64_t rows) const {
  const int64_t matrix_rows = t.shape.size() > 2 ? t.shape[t.shape.size() - 2] : t.rows();
  if (t.planes) {
    backend::Stored out{.format = t.format, .rows = rows, .columns = t.columns()};
    out.planes = t.planes->matrix(matrix, matrix_rows).from(row);
    return out;
  }
  const size_t row_bytes = quant::row_bytes(t.format, static_cast<size_t>(t.columns()));
  const auto from = static_cast<size_t>(matrix * matrix_rows + row) * row_bytes;
  backend::Stored out{.format = t.format, .rows = rows, .columns = t.columns(), .bytes = t.bytes.subspan(from, static_cast<size_t>(rows) * row_bytes)};
  if (t.file) out.release = [file = t.file](std::span<const std::byte> part) { file->drop(part); };
  return out;
}

backend::WeightRef Loader::keep(Result<backend::WeightRef> weight, const std::string& name, size_t file_bytes) {
  if (!weight.ok()) {
    fail(weight.status().in(name).in(checkpoint_.path));
    return nullptr;
  }
  resident_bytes_ += (*weight)->bytes();
  packed_bytes_ += file_bytes;
  if (progress_) progress_(static_cast<double>(packed_bytes_) / static_cast<double>(checkpoint_.file_bytes()));
  return *weight;
}

void Loader::write_down(const Name& name, GgufTensor::Kind kind, std::vector<int64_t> shape, std::vector<GgufTensor::Piece> pieces,
                        std::string mlx, ValueChange change) {
  if (!form_ || name.gguf.empty()) return;
  if (!name.shape.empty()) shape = name.shape;
  form_->tensors.push_back({name.gguf, std::move(mlx), kind, std::move(shape), std::move(pieces), name.rows, name.columns, change, {}});
}

void Loader::say_values(std::string gguf_name, std::vector<float> values) {
  if (!form_) return;
  const auto size = static_cast<int64_t>(values.size());
  form_->tensors.push_back({std::move(gguf_name), "", GgufTensor::Kind::kVector, {size}, {}, {}, {}, {}, std::move(values)});
}

backend::WeightRef Loader::matrix(const Name& name, int64_t rows, int64_t columns, backend::Use use) {
  const std::string& tensor = file_name(name);
  const weights::Tensor* t = find(tensor);
  if (!t) return nullptr;
  if (t->shape.size() > 2) {
    fail(error(Code::kCorrupt, "{}: tensor {} has {} axes, at most 2 were expected", checkpoint_.path, tensor, t->shape.size()));
    return nullptr;
  }
  if (t->rows() != rows || t->columns() != columns) {
    fail(error(Code::kCorrupt, "{}: tensor {} is {} by {}, the model's numbers ask for {} by {}", checkpoint_.path, tensor,
               t->rows(), t->columns(), rows, columns));
    return nullptr;
  }
  using Kind = GgufTensor::Kind;
  write_down(name, use == backend::Use::kExact ? Kind::kExact : use == backend::Use::kRows ? Kind::kEmbedding : Kind::kMatrix, {rows, columns},
             {{tensor, 0, 0, rows}}, tensor);
  backend::Stored matrix = stored(*t, 0, 0, rows);
  matrix.scale = scales(tensor, 1)[0];
  return keep(backend_.pack(matrix, use), tensor, t->stored_bytes());
}

backend::WeightRef Loader::experts(const Stack& wanted, int count, int64_t rows, int64_t columns) {
  const std::string& whole = file_name(wanted.whole);
  std::vector<backend::Stored> stack;
  std::vector<GgufTensor::Piece> pieces;
  size_t bytes = 0;
  const auto wrong = [&](const weights::Tensor& t) {
    std::string shape;
    for (const int64_t n : t.shape) shape += fmt::format("{}{}", shape.empty() ? "" : " by ", n);
    fail(error(Code::kCorrupt, "{}: tensor {} is {}, the model's numbers ask for {} experts of {} by {}", checkpoint_.path, t.name,
               shape, count, rows, columns));
    return nullptr;
  };
  const auto add = [&](const weights::Tensor& t, int64_t matrix, int64_t row) {
    stack.push_back(stored(t, matrix, row, rows));
    if (form_) pieces.push_back({t.name, matrix, row, rows});
  };
  if (has(whole)) {
    const weights::Tensor* t = find(whole);
    if (!t) return nullptr;
    if (t->shape.size() != 3 || t->shape[0] != count || t->shape[1] < wanted.row + rows || t->shape[2] != columns) return wrong(*t);
    for (int e = 0; e < count; ++e) add(*t, e, wanted.row);
  } else {
    for (int e = 0; e < count; ++e) {
      const weights::Tensor* t = find(wanted.single(e));
      if (!t) return nullptr;
      if (t->shape.size() != 2 || t->rows() != rows || t->columns() != columns) return wrong(*t);
      add(*t, 0, 0);
    }
  }
  write_down(wanted.whole, GgufTensor::Kind::kMatrix, {count, rows, columns}, std::move(pieces), wanted.mlx);
  const std::vector<float> factors = scales(whole, count);
  for (size_t e = 0; e < stack.size(); ++e) {
    stack[e].scale = factors[e];
    bytes += stack[e].stored_bytes();
  }
  return keep(backend_.pack_stack(stack), has(whole) ? whole : wanted.single(0), bytes);
}

std::vector<float> Loader::scales(const std::string& tensor, int count) {
  std::vector<float> out(static_cast<size_t>(count), 1.0f);
  constexpr std::string_view kWeight = ".weight";
  if (!gguf() || !tensor.ends_with(kWeight)) return out;
  const std::string base = tensor.substr(0, tensor.size() - kWeight.size());
  ignore(base + ".input_scale");  // of activations, which stay as they are here
  if (!has(base + ".scale")) return out;
  out = values(base + ".scale", count);
  for (const float scale : out) {
    if (!std::isfinite(scale)) fail(error(Code::kCorrupt, "{}: {}.scale is {}, no finite number", checkpoint_.path, base, scale));
  }
  return out;
}

std::vector<float> Loader::values(const std::string& tensor, int64_t size) {
  const weights::Tensor* t = find(tensor);
  std::vector<float> out(static_cast<size_t>(size));
  if (!t) return out;
  if (t->rows() * t->columns() != size) {
    fail(error(Code::kCorrupt, "{}: tensor {} has {} values, the model's numbers ask for {}", checkpoint_.path, tensor,
               t->rows() * t->columns(), size));
    return out;
  }
  if (form_) return out;
  const auto columns = static_cast<size_t>(t->columns());
  for (int64_t r = 0; r < t->rows(); ++r) t->decode_row(r, out.data() + static_cast<size_t>(r) * columns);
  return out;
}

backend::WeightRef Loader::upload(std::span<const float> values) {
  if (!status_.ok()) return nullptr;
  return keep(backend_.vector(values), "a vector", 0);
}

std::vector<float> Loader::values(const Name& name, int64_t size, ValueChange change) {
  const std::string& tensor = file_name(name);
  std::vector<float> out = values(tensor, size);
  if (const weights::Tensor* t = checkpoint_.find(tensor)) {
    write_down(name, GgufTensor::Kind::kVector, {size}, {{tensor, 0, 0, t->rows()}}, tensor, change);
  }
  return out;
}

backend::Norm Loader::norm(const Name& name, int64_t size, float eps, float offset) {
  std::vector<float> weight = values(name, size, {offset == 0 ? ValueChange::Kind::kNone : ValueChange::Kind::kAdd, offset});
  for (float& w : weight) w += offset;
  return {upload(weight), eps};
}

std::vector<std::string> Loader::unused() const {
  std::vector<std::string> names;
  const auto wanted = [&](const std::string& name) {
    return used_.count(name) > 0 || std::any_of(ignored_.begin(), ignored_.end(), [&](const auto& prefix) { return name.starts_with(prefix); });
  };
  for (const auto& [name, tensor] : checkpoint_.tensors()) {
    if (!wanted(name)) names.push_back(name);
  }
  // Integer tables that no model asks for are common; floats of a type that is not read here may be scales.
  for (const auto& [name, type] : checkpoint_.unread()) {
    if (!wanted(name) && type.rfind('F', 0) == 0) names.push_back(name);
  }
  return names;
}

}  // namespace kapitsa::model
