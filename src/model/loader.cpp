#include "model/loader.h"

#include <cmath>

namespace kapitsa::model {

std::string Loader::key(std::string_view gguf_key) const {
  std::string k(gguf_key);
  if (k.rfind("{arch}", 0) == 0) {
    const std::string* arch = checkpoint_.metadata.string("general.architecture");
    k.replace(0, 6, arch ? *arch : "");
  }
  return k;
}

const Json* Loader::member(std::string_view json_key, bool (Json::*is)() const noexcept, const char* what) {
  if (json_key.empty() || !checkpoint_.config.is_object()) return nullptr;
  const auto it = checkpoint_.config.find(std::string(json_key));
  if (it == checkpoint_.config.end() || it->is_null()) return nullptr;
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

const weights::Tensor* Loader::find(const std::string& tensor, int64_t rows, int64_t columns) {
  if (!status_.ok()) return nullptr;
  const auto required = checkpoint_.require(tensor);
  if (!required.ok()) {
    fail(required.status());
    return nullptr;
  }
  const weights::Tensor* t = *required;
  used_.insert(tensor);
  if (t->shape.size() > 2) {
    fail(error(Code::kCorrupt, "{}: tensor {} has {} axes, at most 2 were expected", checkpoint_.path, tensor, t->shape.size()));
    return nullptr;
  }
  if (t->rows() != rows || t->columns() != columns) {
    fail(error(Code::kCorrupt, "{}: tensor {} is {} by {}, the model's numbers ask for {} by {}", checkpoint_.path, tensor,
               t->rows(), t->columns(), rows, columns));
    return nullptr;
  }
  return t;
}

backend::WeightRef Loader::matrix(const std::string& tensor, int64_t rows, int64_t columns, bool embedding) {
  const weights::Tensor* t = find(tensor, rows, columns);
  if (!t) return nullptr;
  backend::Stored stored{t->format, rows, columns, t->bytes, nullptr};
  if (t->file) stored.release = [file = t->file](std::span<const std::byte> part) { file->drop(part); };
  auto weight = backend_.pack(stored, embedding);
  if (!weight.ok()) {
    fail(weight.status().in(tensor).in(checkpoint_.path));
    return nullptr;
  }
  packed_bytes_ += t->bytes.size();
  if (progress_) progress_(static_cast<double>(packed_bytes_) / static_cast<double>(checkpoint_.file_bytes()));
  return *weight;
}

std::vector<float> Loader::values(const std::string& tensor, int64_t size) {
  const weights::Tensor* t = find(tensor, 1, size);
  std::vector<float> out(static_cast<size_t>(size));
  if (t) quant::decode_row(t->format, t->bytes.data(), out.size(), out.data());
  return out;
}

backend::WeightRef Loader::vector(const std::string& tensor, int64_t size) {
  const std::vector<float> floats = values(tensor, size);
  if (!status_.ok()) return nullptr;
  auto weight = backend_.vector(floats);
  if (!weight.ok()) {
    fail(weight.status().in(tensor));
    return nullptr;
  }
  return *weight;
}

std::vector<std::string> Loader::unused() const {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : checkpoint_.tensors()) {
    if (!used_.count(name)) names.push_back(name);
  }
  // Integer tables that no model asks for are common; floats of a type that is not read here may be scales.
  for (const auto& [name, type] : checkpoint_.unread()) {
    if (!used_.count(name) && type.rfind('F', 0) == 0) names.push_back(name);
  }
  return names;
}

}  // namespace kapitsa::model
