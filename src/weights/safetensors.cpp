#include "weights/safetensors.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "weights/printable.h"
#include "weights/safetensors_header.h"
#include "weights/tensor_size.h"

namespace kapitsa::weights {
namespace {

constexpr uint64_t kMostHeaderBytes = 100'000'000;

Status check_size(const SafetensorsEntry& entry, size_t size) {
  const auto count = element_count(entry.shape);
  if (!count) {
    return error(Code::kCorrupt, "the shape {} of the tensor '{}' holds more elements than 2^63",
                 shape_text(entry.shape), printable(entry.name));
  }
  const int bits = dtype_bits(entry.dtype);
  if (bits == 0) return {};
  uint64_t total = 0;
  if (__builtin_mul_overflow(static_cast<uint64_t>(*count), static_cast<uint64_t>(bits), &total) ||
      total % 8 != 0 || total / 8 != size) {
    return error(Code::kCorrupt,
                 "the tensor '{}' of shape {} in {} takes {} bits, but its offsets hold {} bytes",
                 printable(entry.name), shape_text(entry.shape), entry.dtype, total, size);
  }
  return {};
}

}  // namespace

int dtype_bits(std::string_view dtype) {
  struct Known {
    std::string_view name;
    int bits;
  };
  constexpr Known kKnown[] = {{"F32", 32},    {"F16", 16},    {"BF16", 16},   {"F64", 64},
                              {"I8", 8},      {"U8", 8},      {"BOOL", 8},    {"I16", 16},
                              {"U16", 16},    {"I32", 32},    {"U32", 32},    {"I64", 64},
                              {"U64", 64},    {"C64", 64},    {"F8_E4M3", 8}, {"F8_E5M2", 8},
                              {"F8_E8M0", 8}, {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F4", 4}};
  for (const Known& known : kKnown) {
    if (known.name == dtype) return known.bits;
  }
  return 0;
}

Result<std::vector<StoredTensor>> parse_safetensors(std::span<const std::byte> bytes) {
  uint64_t length = 0;
  if (bytes.size() < sizeof(length)) {
    return error(Code::kCorrupt,
                 "is {} bytes long; a safetensors file begins with 8 bytes of header length",
                 bytes.size());
  }
  std::memcpy(&length, bytes.data(), sizeof(length));
  const std::span<const std::byte> rest = bytes.subspan(sizeof(length));
  if (std::memcmp(bytes.data(), "version ", 8) == 0) {
    return error(Code::kInvalid, "is a Git LFS pointer, not the weights; run `git lfs pull`");
  }
  if (length > kMostHeaderBytes || length > rest.size()) {
    return error(Code::kCorrupt,
                 "claims a header of {} bytes; {} bytes follow, and the most is {}. Is the "
                 "download complete?",
                 length, rest.size(), kMostHeaderBytes);
  }
  const auto data = rest.subspan(length);
  KAPITSA_ASSIGN(auto entries,
                 parse_safetensors_header({reinterpret_cast<const char*>(rest.data()), length}));
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  std::vector<StoredTensor> tensors;
  tensors.reserve(entries.size());
  std::unordered_set<std::string_view> names;
  uint64_t end = 0;
  for (const SafetensorsEntry& entry : entries) {
    if (!names.insert(entry.name).second) {
      return error(Code::kCorrupt, "two tensors are named '{}'", printable(entry.name));
    }
    if (entry.begin != end || entry.end < entry.begin || entry.end > data.size()) {
      return error(Code::kCorrupt,
                   "the tensor '{}' has the bytes {} to {}; the one before ends at {} and the file "
                   "holds {}. Is "
                   "the download complete?",
                   printable(entry.name), entry.begin, entry.end, end, data.size());
    }
    KAPITSA_RETURN_IF_ERROR(check_size(entry, entry.end - entry.begin));
    end = entry.end;
    tensors.push_back(
        {entry.name, entry.dtype, entry.shape, data.subspan(entry.begin, entry.end - entry.begin)});
  }
  if (end != data.size()) {
    return error(Code::kCorrupt, "the tensors end at byte {}, but the file holds {} bytes of them",
                 end, data.size());
  }
  return tensors;
}

std::optional<quant::Format> format_of(std::string_view dtype) {
  if (dtype == "F32") return quant::Format::f32;
  if (dtype == "F16") return quant::Format::f16;
  if (dtype == "BF16") return quant::Format::bf16;
  return std::nullopt;
}

Result<SafetensorsFile> SafetensorsFile::open(const std::string& path) {
  SafetensorsFile opened;
  KAPITSA_ASSIGN(opened.file, FileMap::open(path));
  auto tensors = parse_safetensors(opened.file->bytes());
  if (!tensors.ok()) return tensors.status().in(path);
  opened.tensors = *std::move(tensors);
  return opened;
}

const StoredTensor* SafetensorsFile::find(std::string_view name) const {
  const auto it = std::find_if(tensors.begin(), tensors.end(),
                               [&](const StoredTensor& tensor) { return tensor.name == name; });
  return it == tensors.end() ? nullptr : &*it;
}

}  // namespace kapitsa::weights
