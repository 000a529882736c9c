// Reads little-endian fields from a GGUF header; every read is checked against the end of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace kapitsa::weights {

class GgufCursor {
 public:
  explicit GgufCursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

  size_t at() const { return at_; }
  size_t size() const { return bytes_.size(); }
  size_t remaining() const { return bytes_.size() - at_; }

  // False, with nothing consumed, where the file ends before the field does.
  template <class T>
  [[nodiscard]] bool read(T& out) {
    if (remaining() < sizeof(T)) return false;
    std::memcpy(&out, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return true;
  }

  // A 64-bit length and that many bytes.
  [[nodiscard]] bool read_string(std::string_view& out) {
    uint64_t length = 0;
    if (remaining() < sizeof(length)) return false;
    std::memcpy(&length, bytes_.data() + at_, sizeof(length));
    if (length > remaining() - sizeof(length)) return false;
    at_ += sizeof(length);
    out = {reinterpret_cast<const char*>(bytes_.data() + at_), static_cast<size_t>(length)};
    at_ += static_cast<size_t>(length);
    return true;
  }

 private:
  std::span<const std::byte> bytes_;
  size_t at_ = 0;
};

}  // namespace kapitsa::weights
