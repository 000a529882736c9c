#include "weights/gguf_value.h"

#include <limits>
#include <type_traits>

namespace kapitsa::weights {
namespace {

constexpr uint64_t kMostElements = uint64_t{1} << 22;
constexpr size_t kMostStringBytes = size_t{64} << 20;

constexpr uint32_t kString = 8;
constexpr uint32_t kArray = 9;

class ValueReader {
 public:
  ValueReader(GgufCursor& cursor, const std::string& key, Value& out)
      : cursor_(cursor), key_(key), out_(out) {}

  Status scalar(uint32_t type) {
    if (type == kString) return string();
    if (type == kArray) return array();
    return with_type(type, [this]<class T>(T) { return number<T>(); });
  }

 private:
  // Calls `read` with a value of the C++ type that the type id means.
  template <class Read>
  Status with_type(uint32_t type, Read read) {
    switch (type) {
      case 0:
        return read(uint8_t{});
      case 1:
        return read(int8_t{});
      case 2:
        return read(uint16_t{});
      case 3:
        return read(int16_t{});
      case 4:
        return read(uint32_t{});
      case 5:
        return read(int32_t{});
      case 6:
        return read(float{});
      case 7:
        return read(bool{});
      case 10:
        return read(uint64_t{});
      case 11:
        return read(int64_t{});
      case 12:
        return read(double{});
      default:
        return error(Code::kCorrupt, "the key '{}' has the type {}; GGUF knows 0 to 12", key_,
                     type);
    }
  }

  Status truncated() const {
    return error(Code::kCorrupt, "the file ends at byte {}, inside the value of the key '{}'",
                 cursor_.size(), key_);
  }

  Status not_boolean(int value) const {
    return error(Code::kCorrupt, "the key '{}' holds the boolean {}; it must be 0 or 1", key_,
                 value);
  }

  template <class T>
  Status number() {
    if constexpr (std::is_same_v<T, bool>) {
      uint8_t byte = 0;
      if (!cursor_.read(byte)) return truncated();
      if (byte > 1) return not_boolean(byte);
      out_ = byte == 1;
    } else {
      T value{};
      if (!cursor_.read(value)) return truncated();
      if constexpr (std::is_floating_point_v<T>) {
        out_ = static_cast<double>(value);
      } else if (std::is_same_v<T, uint64_t> && static_cast<uint64_t>(value) > kMostSigned) {
        out_ = static_cast<double>(value);
      } else {
        out_ = static_cast<int64_t>(value);
      }
    }
    return {};
  }

  Status string() {
    std::string_view text;
    if (!cursor_.read_string(text)) return truncated();
    if (text.size() > kMostStringBytes) {
      return error(Code::kCorrupt, "the key '{}' holds a string of {} bytes; the most is {}", key_,
                   text.size(), kMostStringBytes);
    }
    out_.emplace<std::string>(text);
    return {};
  }

  Status array() {
    uint32_t type = 0;
    uint64_t count = 0;
    if (!cursor_.read(type) || !cursor_.read(count)) return truncated();
    if (type == kArray) {
      return error(Code::kUnsupported, "the key '{}' holds an array of arrays, which is not read",
                   key_);
    }
    if (count > kMostElements) {
      return error(Code::kCorrupt, "the key '{}' holds an array of {} elements; the most is {}",
                   key_, count, kMostElements);
    }
    if (type == kString) return string_array(count);
    return with_type(type, [&]<class T>(T) { return number_array<T>(count); });
  }

  // True where `count` elements of at least `bytes` each can still follow.
  bool fits(uint64_t count, size_t bytes) const { return count <= cursor_.remaining() / bytes; }

  Status string_array(uint64_t count) {
    if (!fits(count, sizeof(uint64_t))) return truncated();
    auto& strings = out_.emplace<std::vector<std::string>>();
    strings.reserve(count);
    size_t total = 0;
    for (uint64_t i = 0; i < count; ++i) {
      std::string_view text;
      if (!cursor_.read_string(text)) return truncated();
      if ((total += text.size()) > kMostStringBytes) {
        return error(Code::kCorrupt, "the strings of the key '{}' are over {} bytes together", key_,
                     kMostStringBytes);
      }
      strings.emplace_back(text);
    }
    return {};
  }

  template <class T>
  Status number_array(uint64_t count) {
    using Stored =
        std::conditional_t<std::is_same_v<T, bool>, bool,
                           std::conditional_t<std::is_floating_point_v<T>, double, int64_t>>;
    using Raw = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
    if (!fits(count, sizeof(Raw))) return truncated();
    auto& values = out_.emplace<std::vector<Stored>>();
    values.reserve(count);
    for (uint64_t i = 0; i < count; ++i) {
      Raw raw{};
      if (!cursor_.read(raw)) return truncated();
      if constexpr (std::is_same_v<T, bool>) {
        if (raw > 1) return not_boolean(raw);
      }
      if constexpr (std::is_same_v<T, uint64_t>) {
        if (raw > kMostSigned) {
          return error(Code::kUnsupported, "the key '{}' holds {} in an array; the most is {}",
                       key_, raw, kMostSigned);
        }
      }
      values.push_back(static_cast<Stored>(raw));
    }
    return {};
  }

  static constexpr uint64_t kMostSigned = std::numeric_limits<int64_t>::max();

  GgufCursor& cursor_;
  const std::string& key_;
  Value& out_;
};

}  // namespace

Status read_gguf_value(GgufCursor& cursor, const std::string& key, Value& out) {
  uint32_t type = 0;
  if (!cursor.read(type)) {
    return error(Code::kCorrupt, "the file ends at byte {}, inside the type of the key '{}'",
                 cursor.size(), key);
  }
  return ValueReader(cursor, key, out).scalar(type);
}

}  // namespace kapitsa::weights
