// Status and Result: how expected failures travel (bad files, requests, full disks). Exceptions are
// kept for programmer errors and never cross a thread or a library boundary.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace kapitsa {

enum class Code {
  kOk,
  kInvalid,      // the caller's input is wrong: a flag, a request, a template
  kCorrupt,      // foreign bytes contradict themselves: a model file, a download
  kNotFound,     // a file, a model, a tensor that does not exist
  kUnsupported,  // valid, but not something this build can do
  kExhausted,    // memory, disk or context is too small for it
  kUnavailable,  // try again later: network, queue full
  kCancelled,
  kInternal,
};

// What `code` is called in logs and JSON, for example "not_found".
std::string_view name(Code code);

// An outcome without a value. The message is one sentence for a person: it names the thing, both
// numbers where two disagree, and what would be right.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  // The same failure with "place: " before its message.
  Status in(std::string_view place) const {
    return ok() ? *this : Status(code_, fmt::format("{}: {}", place, message_));
  }

 private:
  Code code_ = Code::kOk;
  std::string message_;
};

template <class... Args>
Status error(Code code, fmt::format_string<Args...> format, Args&&... args) {
  return Status(code, fmt::format(format, std::forward<Args>(args)...));
}

// A value, or the Status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}          // NOLINT
  Result(Status status) : state_(std::in_place_index<1>, std::move(status)) {}   // NOLINT

  bool ok() const { return state_.index() == 0; }
  Status status() const { return ok() ? Status() : std::get<1>(state_); }
  const std::string& message() const { return std::get<1>(state_).message(); }

  // Only after ok().
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::move(std::get<0>(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace kapitsa

#define KAPITSA_CONCAT_(a, b) a##b
#define KAPITSA_CONCAT(a, b) KAPITSA_CONCAT_(a, b)

// Returns the Status of `expression` from the enclosing function unless it is ok.
#define KAPITSA_RETURN_IF_ERROR(expression)                    \
  do {                                                         \
    if (::kapitsa::Status status_ = (expression); !status_.ok()) return status_; \
  } while (0)

// KAPITSA_ASSIGN(auto x, f()): x = the value of a Result, or returns its Status.
#define KAPITSA_ASSIGN(target, expression) \
  KAPITSA_ASSIGN_(KAPITSA_CONCAT(result_, __LINE__), target, expression)
#define KAPITSA_ASSIGN_(result, target, expression) \
  auto result = (expression);                       \
  if (!result.ok()) return result.status();         \
  target = *std::move(result)
