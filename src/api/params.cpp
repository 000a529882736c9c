#include "api/params.h"

#include <fmt/format.h>

#include <cmath>

namespace kapitsa::api {
namespace {

// Of one string in a list: each token of an answer is looked at for all of them.
constexpr size_t kLongestText = 4096;

// What a person calls the type of `value`.
std::string_view type_of(const Json& value) {
  if (value.is_number_integer()) return "integer";
  return value.type_name();
}

}  // namespace

std::string brief(const Json& value) {
  if (value.is_array()) return fmt::format("an array of {}", value.size());
  if (value.is_object()) return "an object";
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > 60) {
    text.resize(57);
    text += "...";
  }
  return text;
}

Params::Params(const Json& object, std::string path) : object_(object), path_(std::move(path)) {
  if (!object_.is_object()) {
    fail("", fmt::format("{} must be an object, not {}", path_.empty() ? "the request" : path_,
                         type_of(object_)));
  }
}

std::string Params::path_of(std::string_view name) const {
  if (path_.empty()) return std::string(name);
  return name.empty() ? path_ : fmt::format("{}.{}", path_, name);
}

void Params::fail(std::string_view name, std::string message) {
  if (error_) return;
  error_ = Error{400, std::move(message), path_of(name), "", std::nullopt};
}

void Params::adopt(const std::optional<Error>& error) {
  if (!error_) error_ = error;
}

void Params::wrong_type(std::string_view name, const Json& value, std::string_view expected) {
  fail(name, fmt::format("'{}' must be {}, not {} ({})", path_of(name), expected, type_of(value),
                         brief(value)));
}

const Json* Params::find(std::string_view name) const {
  if (!object_.is_object()) return nullptr;
  const auto field = object_.find(std::string(name));
  return field == object_.end() || field->is_null() ? nullptr : &*field;
}

std::optional<int64_t> Params::integer(std::string_view name, int64_t low, int64_t high) {
  const Json* value = find(name);
  if (!value || failed()) return std::nullopt;
  // Some clients write whole numbers as 64.0.
  const bool whole = value->is_number_float() && std::nearbyint(value->get<double>()) == *value &&
                     std::abs(value->get<double>()) < 9e15;
  if (!value->is_number_integer() && !whole) {
    wrong_type(name, *value, "an integer");
    return std::nullopt;
  }
  const bool huge = value->is_number_unsigned() && value->get<uint64_t>() > INT64_MAX;
  const int64_t number = huge ? INT64_MAX
                         : whole ? static_cast<int64_t>(value->get<double>())
                                 : value->get<int64_t>();
  if (huge || number < low || number > high) {
    fail(name, fmt::format("'{}' is {}; it must be between {} and {}", path_of(name), brief(*value),
                           low, high));
    return std::nullopt;
  }
  return number;
}

std::optional<double> Params::number(std::string_view name, double low, double high) {
  const Json* value = find(name);
  if (!value || failed()) return std::nullopt;
  if (!value->is_number()) {
    wrong_type(name, *value, "a number");
    return std::nullopt;
  }
  const double number = value->get<double>();
  if (!(number >= low && number <= high)) {
    fail(name, fmt::format("'{}' is {}; it must be between {} and {}", path_of(name), brief(*value),
                           low, high));
    return std::nullopt;
  }
  return number;
}

std::optional<bool> Params::boolean(std::string_view name) {
  const Json* value = find(name);
  if (!value || failed()) return std::nullopt;
  if (!value->is_boolean()) {
    wrong_type(name, *value, "true or false");
    return std::nullopt;
  }
  return value->get<bool>();
}

std::optional<std::string> Params::text(std::string_view name) {
  const Json* value = find(name);
  if (!value || failed()) return std::nullopt;
  if (!value->is_string()) {
    wrong_type(name, *value, "a string");
    return std::nullopt;
  }
  return value->get<std::string>();
}

std::optional<std::string> Params::choice(std::string_view name,
                                          std::vector<std::string_view> allowed) {
  const auto value = text(name);
  if (!value) return std::nullopt;
  for (const std::string_view one : allowed) {
    if (*value == one) return value;
  }
  fail(name, fmt::format("'{}' is {}; it must be one of: {}", path_of(name), brief(*value),
                         fmt::join(allowed, ", ")));
  return std::nullopt;
}

std::vector<std::string> Params::texts(std::string_view name, size_t limit) {
  const Json* value = find(name);
  if (!value || failed()) return {};
  std::vector<std::string> out;
  if (value->is_string()) {
    out.push_back(value->get<std::string>());
  } else if (value->is_array()) {
    for (const Json& one : *value) {
      if (!one.is_string()) {
        wrong_type(name, one, "a string or an array of strings");
        return {};
      }
      out.push_back(one.get<std::string>());
    }
  } else {
    wrong_type(name, *value, "a string or an array of strings");
    return {};
  }
  if (out.size() > limit) {
    fail(name, fmt::format("'{}' has {} strings; at most {} are allowed", path_of(name), out.size(),
                           limit));
    return {};
  }
  for (const std::string& one : out) {
    if (one.empty()) fail(name, fmt::format("'{}' holds an empty string", path_of(name)));
    if (one.size() > kLongestText) {
      fail(name, fmt::format("'{}' holds a string of {} bytes; at most {} are allowed", path_of(name),
                             one.size(), kLongestText));
    }
  }
  return failed() ? std::vector<std::string>{} : out;
}

const Json* Params::object(std::string_view name) {
  const Json* value = find(name);
  if (!value || failed()) return nullptr;
  if (value->is_object()) return value;
  wrong_type(name, *value, "an object");
  return nullptr;
}

const Json* Params::array(std::string_view name) {
  const Json* value = find(name);
  if (!value || failed()) return nullptr;
  if (value->is_array()) return value;
  wrong_type(name, *value, "an array");
  return nullptr;
}

}  // namespace kapitsa::api
