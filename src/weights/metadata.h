// Typed key/value metadata of a checkpoint: a GGUF header's keys, or config.json flattened by its
// reader.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kapitsa::weights {

using Value = std::variant<bool, int64_t, double, std::string, std::vector<bool>,
                           std::vector<int64_t>, std::vector<double>, std::vector<std::string>>;

class Metadata {
 public:
  void set(std::string key, Value value) { values_[std::move(key)] = std::move(value); }
  bool has(std::string_view key) const { return values_.find(key) != values_.end(); }
  const Value* find(std::string_view key) const;

  // The value at `key` if it is there and of that type (integers widen to double; a bool does not).
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<int64_t> integer(std::string_view key) const;
  std::optional<double> number(std::string_view key) const;
  const std::string* string(std::string_view key) const;
  const std::vector<std::string>* strings(std::string_view key) const;
  const std::vector<int64_t>* integers(std::string_view key) const;
  const std::vector<double>* numbers(std::string_view key) const;
  const std::vector<bool>* booleans(std::string_view key) const;

  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  size_t size() const { return values_.size(); }

 private:
  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace kapitsa::weights
