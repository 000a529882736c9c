#include "weights/metadata.h"

namespace kapitsa::weights {

const Value* Metadata::find(std::string_view key) const {
  const auto it = values_.find(key);
  return it == values_.end() ? nullptr : &it->second;
}

namespace {

template <class T>
const T* get(const Metadata& metadata, std::string_view key) {
  const Value* value = metadata.find(key);
  return value == nullptr ? nullptr : std::get_if<T>(value);
}

template <class T>
std::optional<T> copy(const T* value) {
  return value == nullptr ? std::nullopt : std::optional<T>(*value);
}

}  // namespace

std::optional<bool> Metadata::boolean(std::string_view key) const {
  return copy(get<bool>(*this, key));
}

std::optional<int64_t> Metadata::integer(std::string_view key) const {
  return copy(get<int64_t>(*this, key));
}

std::optional<double> Metadata::number(std::string_view key) const {
  if (const auto whole = integer(key)) return static_cast<double>(*whole);
  return copy(get<double>(*this, key));
}

const std::string* Metadata::string(std::string_view key) const {
  return get<std::string>(*this, key);
}

const std::vector<std::string>* Metadata::strings(std::string_view key) const {
  return get<std::vector<std::string>>(*this, key);
}

const std::vector<int64_t>* Metadata::integers(std::string_view key) const {
  return get<std::vector<int64_t>>(*this, key);
}

const std::vector<double>* Metadata::numbers(std::string_view key) const {
  return get<std::vector<double>>(*this, key);
}

const std::vector<bool>* Metadata::booleans(std::string_view key) const {
  return get<std::vector<bool>>(*this, key);
}

}  // namespace kapitsa::weights
