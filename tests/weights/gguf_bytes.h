// Builds GGUF files field by field, right or wrong, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kapitsa::weights {

class GgufBytes {
 public:
  explicit GgufBytes(uint64_t tensors, uint64_t keys, uint32_t version = 3) {
    text_ = "GGUF";
    put(version).put(tensors).put(keys);
  }

  template <class T>
  GgufBytes& put(T value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }
  GgufBytes& text(std::string_view value) {
    put(uint64_t{value.size()});
    text_ += value;
    return *this;
  }
  GgufBytes& key(std::string_view name, uint32_t value) { return text(name).put(4u).put(value); }
  GgufBytes& key(std::string_view name, std::string_view value) {
    return text(name).put(8u).text(value);
  }
  GgufBytes& tensor(std::string_view name, const std::vector<uint64_t>& axes, uint32_t type,
                    uint64_t offset) {
    text(name).put(static_cast<uint32_t>(axes.size()));
    for (const uint64_t axis : axes) put(axis);
    return put(type).put(offset);
  }
  // Pads to the alignment and adds `bytes` bytes of tensors.
  GgufBytes& data(size_t bytes, size_t alignment = 32) {
    text_.resize((text_.size() + alignment - 1) / alignment * alignment, '\0');
    text_.append(bytes, '\x01');
    return *this;
  }
  const std::string& str() const { return text_; }

 private:
  std::string text_;
};

}  // namespace kapitsa::weights
