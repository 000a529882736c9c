#include "weights/gguf_writer.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

#include "weights/printable.h"
#include "weights/tensor_size.h"

namespace kapitsa::weights {
namespace {

constexpr uint64_t kAlignment = 32;
constexpr size_t kMostAxes = 4;
enum Type : uint32_t { kU32 = 4, kI32 = 5, kF32 = 6, kBool = 7, kString = 8, kArray = 9, kU64 = 10, kI64 = 11 };

template <class T>
bool fits(int64_t n) {
  return n >= static_cast<int64_t>(std::numeric_limits<T>::min()) && n <= static_cast<int64_t>(std::numeric_limits<T>::max());
}

class Head {
 public:
  std::string text;

  template <class T>
  void put(T value) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    text.append(bytes, sizeof(T));
  }
  void string(std::string_view s) {
    put(static_cast<uint64_t>(s.size()));
    text.append(s);
  }

  void operator()(bool value) { put(uint32_t{kBool}), put(static_cast<uint8_t>(value)); }
  void operator()(int64_t value) {
    if (fits<uint32_t>(value)) put(uint32_t{kU32}), put(static_cast<uint32_t>(value));
    else if (fits<int32_t>(value)) put(uint32_t{kI32}), put(static_cast<int32_t>(value));
    else put(uint32_t{value < 0 ? kI64 : kU64}), put(value);
  }
  void operator()(double value) { put(uint32_t{kF32}), put(static_cast<float>(value)); }
  void operator()(const std::string& value) { put(uint32_t{kString}), string(value); }
  void operator()(const std::vector<bool>& values) {
    array(kBool, values.size());
    for (const bool value : values) put(static_cast<uint8_t>(value));
  }
  void operator()(const std::vector<int64_t>& values) {
    const bool small = std::all_of(values.begin(), values.end(), fits<int32_t>);
    array(small ? kI32 : kI64, values.size());
    for (const int64_t value : values) {
      if (small) put(static_cast<int32_t>(value));
      else put(value);
    }
  }
  void operator()(const std::vector<double>& values) {
    array(kF32, values.size());
    for (const double value : values) put(static_cast<float>(value));
  }
  void operator()(const std::vector<std::string>& values) {
    array(kString, values.size());
    for (const std::string& value : values) string(value);
  }

 private:
  void array(Type type, size_t count) { put(uint32_t{kArray}), put(uint32_t{type}), put(static_cast<uint64_t>(count)); }
};

int rank(const std::string& key) {
  if (key == "general.architecture") return 0;
  if (key.starts_with("general.")) return 1;
  return key.starts_with("tokenizer.") ? 3 : 2;
}

uint64_t aligned(uint64_t n) { return (n + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

Result<FileLayout> gguf_layout(const Metadata& metadata, std::span<const GgufEntry> tensors) {
  Head head;
  head.text = "GGUF";
  head.put(uint32_t{3});
  head.put(static_cast<uint64_t>(tensors.size()));
  head.put(static_cast<uint64_t>(metadata.size()));
  for (int r = 0; r <= 3; ++r) {
    for (const auto& [key, value] : metadata) {
      if (rank(key) != r) continue;
      head.string(key);
      std::visit(head, value);
    }
  }
  FileLayout out;
  std::set<std::string_view> names;
  uint64_t at = 0;
  for (const GgufEntry& tensor : tensors) {
    if (tensor.name.empty() || !names.insert(tensor.name).second) {
      return error(Code::kInvalid, "two tensors cannot both be named '{}'", printable(tensor.name));
    }
    if (tensor.shape.size() > kMostAxes) {
      return error(Code::kInvalid, "the tensor '{}' has {} axes; a GGUF takes {}", printable(tensor.name), tensor.shape.size(), kMostAxes);
    }
    const auto size = tensor_bytes(tensor.format, tensor.shape);
    if (!size.ok()) return size.status().in(printable(tensor.name));
    head.string(tensor.name);
    head.put(static_cast<uint32_t>(tensor.shape.size()));
    for (auto axis = tensor.shape.rbegin(); axis != tensor.shape.rend(); ++axis) head.put(static_cast<uint64_t>(*axis));
    head.put(static_cast<uint32_t>(quant::info(tensor.format).gguf_type));
    head.put(at);
    out.places.push_back({at, *size});
    at = aligned(at + *size);
  }
  head.text.resize(aligned(head.text.size()), '\0');
  for (auto& place : out.places) place.offset += head.text.size();
  out.size = head.text.size() + at;
  out.head = std::move(head.text);
  return out;
}

}  // namespace kapitsa::weights
