// Typed, range-checked reading of request fields. The first fault is kept and names the field, its
// value and what is allowed; after it every read returns its default, so that callers check once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/errors.h"
#include "base/json.h"

namespace kapitsa::api {

class Params {
 public:
  // Reads fields of `object`, which must outlive this. `path` stands before field names in errors.
  explicit Params(const Json& object, std::string path = {});

  // A field that is absent or null reads as nullopt. Unknown fields are never an error.
  std::optional<int64_t> integer(std::string_view name, int64_t low, int64_t high);
  std::optional<double> number(std::string_view name, double low, double high);
  std::optional<bool> boolean(std::string_view name);
  std::optional<std::string> text(std::string_view name);
  // One of `allowed`.
  std::optional<std::string> choice(std::string_view name, std::vector<std::string_view> allowed);
  // A string or an array of at most `limit` strings; empty ones are refused.
  std::vector<std::string> texts(std::string_view name, size_t limit);
  const Json* object(std::string_view name);
  const Json* array(std::string_view name);
  // Any type; null where absent or null.
  const Json* find(std::string_view name) const;

  // Notes a fault of `name` ("" for the object itself) unless one is there already.
  void fail(std::string_view name, std::string message);
  bool failed() const { return error_.has_value(); }
  const std::optional<Error>& error() const { return error_; }
  void adopt(const std::optional<Error>& error);
  std::string path_of(std::string_view name) const;

 private:
  void wrong_type(std::string_view name, const Json& value, std::string_view expected);

  const Json& object_;
  std::string path_;
  std::optional<Error> error_;
};

// `value` in short, for an error: never more than 60 bytes of it.
std::string brief(const Json& value);

}  // namespace kapitsa::api
