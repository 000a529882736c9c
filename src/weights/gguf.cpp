#include "weights/gguf.h"

#include <algorithm>
#include <array>
#include <bit>

#include "weights/gguf_cursor.h"
#include "weights/gguf_value.h"
#include "weights/printable.h"
#include "weights/tensor_size.h"

namespace kapitsa::weights {
namespace {

constexpr uint32_t kMostAxes = 4;
constexpr size_t kMostNameBytes = 1024;
constexpr uint64_t kMostEntries = uint64_t{1} << 20;  // keys or tensors; real files have thousands
// The shortest entries that can follow: a key of one byte with a one-byte value, a scalar tensor.
constexpr size_t kLeastKeyBytes = 8 + 1 + 4 + 1;
constexpr size_t kLeastTensorBytes = 8 + 1 + 4 + 4 + 8;

// The type's name in GGUF, for the types of the format that this build may lack.
std::string_view type_name(uint32_t type) {
  constexpr std::array<std::string_view, 43> kNames = {
      "F32",   "F16",        "Q4_0",       "Q4_1",       "Q4_2",     "Q4_3",     "Q5_0",
      "Q5_1",  "Q8_0",       "Q8_1",       "Q2_K",       "Q3_K",     "Q4_K",     "Q5_K",
      "Q6_K",  "Q8_K",       "IQ2_XXS",    "IQ2_XS",     "IQ3_XXS",  "IQ1_S",    "IQ4_NL",
      "IQ3_S", "IQ2_S",      "IQ4_XS",     "I8",         "I16",      "I32",      "I64",
      "F64",   "IQ1_M",      "BF16",       "Q4_0_4_4",   "Q4_0_4_8", "Q4_0_8_8", "TQ1_0",
      "TQ2_0", "IQ4_NL_4_4", "IQ4_NL_4_8", "IQ4_NL_8_8", "MXFP4",    "NVFP4",    "Q1_0",
      "Q2_0"};
  return type < kNames.size() ? kNames[type] : "an unknown type";
}

struct Placed {
  Tensor tensor;
  uint64_t offset;
  size_t size;
};

class GgufParser {
 public:
  GgufParser(std::span<const std::byte> bytes, const FileMap* file, Checkpoint& out)
      : bytes_(bytes), file_(file), cursor_(bytes), out_(out) {}

  Status run() {
    out_.container = Container::gguf;
    KAPITSA_RETURN_IF_ERROR(read_counts());
    for (uint64_t i = 0; i < key_count_; ++i) KAPITSA_RETURN_IF_ERROR(read_key());
    KAPITSA_RETURN_IF_ERROR(check_keys());
    std::vector<Placed> tensors;
    tensors.reserve(std::min<uint64_t>(tensor_count_, 4096));
    for (uint64_t i = 0; i < tensor_count_; ++i) KAPITSA_RETURN_IF_ERROR(read_tensor(tensors));
    return place(std::move(tensors));
  }

 private:
  Status truncated(std::string_view where) const {
    return error(Code::kCorrupt, "the file ends at byte {}, inside {}", bytes_.size(), where);
  }

  Status read_counts() {
    std::array<char, 4> magic{};
    uint32_t version = 0;
    if (!cursor_.read(magic) || std::string_view(magic.data(), 4) != "GGUF") {
      return error(Code::kCorrupt, "does not begin with 'GGUF'");
    }
    if (!cursor_.read(version)) return truncated("the header");
    if ((version & 0xffff) == 0 && version != 0) {
      return error(Code::kUnsupported,
                   "is a big-endian GGUF file; convert the model as little-endian");
    }
    if (version < 2 || version > 3) {
      return error(Code::kUnsupported, "is GGUF version {}; versions 2 and 3 are read", version);
    }
    if (!cursor_.read(tensor_count_) || !cursor_.read(key_count_)) return truncated("the header");
    const size_t rest = cursor_.remaining();
    if (key_count_ > kMostEntries || tensor_count_ > kMostEntries) {
      return error(Code::kCorrupt, "claims {} keys and {} tensors; the most of each is {}",
                   key_count_, tensor_count_, kMostEntries);
    }
    if (key_count_ > rest / kLeastKeyBytes) {
      return error(Code::kCorrupt, "claims {} keys, but only {} bytes follow", key_count_, rest);
    }
    if (tensor_count_ > rest / kLeastTensorBytes) {
      return error(Code::kCorrupt, "claims {} tensors, but only {} bytes follow", tensor_count_,
                   rest);
    }
    return {};
  }

  // A key's or tensor's name: printable ASCII, so that every later message and table can show it.
  Status read_name(std::string_view kind, std::string& out) {
    const size_t at = cursor_.at();
    std::string_view name;
    if (!cursor_.read_string(name))
      return truncated(fmt::format("the {} name at byte {}", kind, at));
    const bool plain =
        std::all_of(name.begin(), name.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
    if (name.empty() || name.size() > kMostNameBytes || !plain) {
      return error(Code::kCorrupt,
                   "the {} name at byte {} ('{}', {} bytes) is not 1 to {} printable bytes", kind,
                   at, printable(name), name.size(), kMostNameBytes);
    }
    out = name;
    return {};
  }

  Status read_key() {
    std::string key;
    KAPITSA_RETURN_IF_ERROR(read_name("key", key));
    if (out_.metadata.has(key))
      return error(Code::kCorrupt, "two keys are named '{}'", printable(key));
    Value value;
    KAPITSA_RETURN_IF_ERROR(read_gguf_value(cursor_, key, value));
    out_.metadata.set(std::move(key), std::move(value));
    return {};
  }

  Status check_keys() {
    if (out_.metadata.has("general.alignment")) {
      const int64_t alignment = out_.metadata.integer("general.alignment").value_or(0);
      if (alignment < 8 || alignment > 65536 ||
          !std::has_single_bit(static_cast<uint64_t>(alignment))) {
        return error(Code::kCorrupt,
                     "general.alignment is {}; it must be a power of two from 8 to 65536",
                     alignment);
      }
      alignment_ = static_cast<size_t>(alignment);
    }
    if (const int64_t parts = out_.metadata.integer("split.count").value_or(1); parts > 1) {
      return error(Code::kUnsupported,
                   "is part {} of {} of a split GGUF, which is not read; join the parts first with "
                   "`llama-gguf-split --merge`",
                   out_.metadata.integer("split.no").value_or(0) + 1, parts);
    }
    if (const std::string* text = out_.metadata.string("tokenizer.chat_template")) {
      out_.chat_template = *text;
    }
    return {};
  }

  Status read_tensor(std::vector<Placed>& tensors) {
    Placed placed{};
    Tensor& tensor = placed.tensor;
    KAPITSA_RETURN_IF_ERROR(read_name("tensor", tensor.name));
    const std::string where = fmt::format("the entry of the tensor '{}'", tensor.name);
    uint32_t axes = 0;
    uint32_t type = 0;
    if (!cursor_.read(axes)) return truncated(where);
    if (axes > kMostAxes) {
      return error(Code::kCorrupt, "the tensor '{}' has {} axes; GGUF allows {}", tensor.name, axes,
                   kMostAxes);
    }
    tensor.shape.resize(axes);
    for (uint32_t axis = axes; axis-- > 0;) {  // GGUF names the contiguous axis first
      int64_t& length = tensor.shape[axis];
      if (!cursor_.read(length)) return truncated(where);
      if (length <= 0) {
        return error(Code::kCorrupt, "the tensor '{}' has an axis of length {}", tensor.name,
                     static_cast<uint64_t>(length));
      }
    }
    if (!cursor_.read(type) || !cursor_.read(placed.offset)) return truncated(where);
    const auto format = quant::from_gguf_type(type);
    if (!format) {
      return error(Code::kUnsupported,
                   "the tensor '{}' is stored as {} (GGUF type {}), which this build does not read",
                   tensor.name, type_name(type), type);
    }
    tensor.format = *format;
    auto size = tensor_bytes(*format, tensor.shape);
    if (!size.ok()) return size.status().in(fmt::format("the tensor '{}'", tensor.name));
    placed.size = *size;
    tensors.push_back(std::move(placed));
    return {};
  }

  // Checks the offsets, which count from the first aligned byte after the header, and hands the
  // tensors over.
  Status place(std::vector<Placed> tensors) {
    if (tensors.empty()) return {};  // a file of a vocabulary only
    const size_t start = (cursor_.at() + alignment_ - 1) / alignment_ * alignment_;
    if (start > bytes_.size()) return truncated("the padding after the header");
    const std::span<const std::byte> data = bytes_.subspan(start);
    std::stable_sort(tensors.begin(), tensors.end(),
                     [](const Placed& a, const Placed& b) { return a.offset < b.offset; });
    uint64_t end = 0;
    std::string previous;
    for (Placed& placed : tensors) {
      Tensor& tensor = placed.tensor;
      if (placed.offset % alignment_ != 0) {
        return error(Code::kCorrupt,
                     "the tensor '{}' is at offset {}, no multiple of the alignment {}",
                     tensor.name, placed.offset, alignment_);
      }
      if (placed.offset > data.size() || placed.size > data.size() - placed.offset) {
        return error(
            Code::kCorrupt,
            "the tensor '{}' takes {} bytes at offset {}, but the file holds {} bytes of tensors; "
            "is the download complete?",
            tensor.name, placed.size, placed.offset, data.size());
      }
      if (placed.offset < end) {
        return error(Code::kCorrupt, "the tensor '{}' at offset {} overlaps '{}', which ends at {}",
                     tensor.name, placed.offset, previous, end);
      }
      end = placed.offset + placed.size;
      previous = tensor.name;
      tensor.bytes = data.subspan(placed.offset, placed.size);
      tensor.file = file_;
      KAPITSA_RETURN_IF_ERROR(out_.add(std::move(tensor)));
    }
    return {};
  }

  std::span<const std::byte> bytes_;
  const FileMap* file_;
  GgufCursor cursor_;
  Checkpoint& out_;
  uint64_t tensor_count_ = 0;
  uint64_t key_count_ = 0;
  size_t alignment_ = 32;
};

}  // namespace

Status parse_gguf(std::span<const std::byte> bytes, const FileMap* file, Checkpoint& out) {
  return GgufParser(bytes, file, out).run();
}

}  // namespace kapitsa::weights
