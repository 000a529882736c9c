#include "weights/safetensors_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/json.h"
#include "weights/printable.h"
#include "weights/tensor_size.h"

namespace kapitsa::weights {
namespace {

struct Header {
  std::string text;
  std::vector<uint64_t> offsets;  // of each tensor, from the end of the header
  uint64_t size = 0;              // of all tensors
};

// The header's JSON, padded with spaces so that the data begins at a multiple of 8.
Result<Header> make_header(std::span<const SafetensorsWriter::Declared> tensors) {
  Json json = Json::object();
  std::set<std::string_view> names;
  Header out;
  for (const SafetensorsWriter::Declared& tensor : tensors) {
    if (tensor.name == "__metadata__" || !names.insert(tensor.name).second) {
      return error(Code::kInvalid, "the name '{}' is taken", printable(tensor.name));
    }
    const auto count = element_count(tensor.shape);
    if (!count || *count > (int64_t{1} << 60)) {
      return error(Code::kInvalid, "the tensor '{}' cannot have the shape {}",
                   printable(tensor.name), shape_text(tensor.shape));
    }
    const uint64_t bytes = static_cast<uint64_t>(*count) * 4;
    json[tensor.name] = {{"dtype", tensor.type == SafetensorsWriter::Type::kF32 ? "F32" : "I32"},
                         {"shape", tensor.shape},
                         {"data_offsets", {out.size, out.size + bytes}}};
    out.offsets.push_back(out.size);
    out.size += bytes;
  }
  try {
    out.text = json.dump();
  } catch (const std::exception&) {
    return error(Code::kInvalid, "a tensor's name is not UTF-8");
  }
  out.text.append((8 - out.text.size() % 8) % 8, ' ');
  return out;
}

Status failed(const std::string& path) {
  const Code code = errno == ENOSPC || errno == EDQUOT ? Code::kExhausted : Code::kUnavailable;
  return error(code, "{}: {}", path, std::strerror(errno));
}

}  // namespace

// A file that is gone again unless it was renamed to its place.
class SafetensorsWriter::TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& path) : target_(path) {
    static std::atomic<unsigned> serial{0};
    path_ = fmt::format("{}.{}-{}.tmp", path, getpid(), serial++);
    file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  }
  ~TemporaryFile() {
    if (file_ < 0) return;
    ::close(file_);
    if (!renamed_) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  // The whole file's size, before anything is written.
  Status resize(uint64_t size) {
    if (file_ < 0 || ftruncate(file_, static_cast<off_t>(size)) != 0) return failed(path_);
    return {};
  }

  Status write(uint64_t at, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::pwrite(file_, bytes.data(), std::min<size_t>(bytes.size(), 1 << 30),
                                 static_cast<off_t>(at));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return failed(path_);
      bytes = bytes.subspan(static_cast<size_t>(n));
      at += static_cast<uint64_t>(n);
    }
    return {};
  }

  Status finish() {
    if (fsync(file_) != 0 && errno != EINVAL) return failed(path_);
    if (::rename(path_.c_str(), target_.c_str()) != 0) return failed(target_);
    renamed_ = true;
    return {};
  }

 private:
  std::string target_;
  std::string path_;
  int file_ = -1;
  bool renamed_ = false;
};

SafetensorsWriter::SafetensorsWriter() = default;
SafetensorsWriter::SafetensorsWriter(SafetensorsWriter&&) noexcept = default;
SafetensorsWriter& SafetensorsWriter::operator=(SafetensorsWriter&&) noexcept = default;
SafetensorsWriter::~SafetensorsWriter() = default;

Result<SafetensorsWriter> SafetensorsWriter::create(const std::string& path,
                                                    std::span<const Declared> tensors) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return error(Code::kInvalid, "{}: is not a regular file, and a result can only replace one",
                 path);
  }
  // A link stays one: what it leads to is replaced.
  std::error_code unresolved;
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, unresolved);
  const auto header = make_header(tensors);
  if (!header.ok()) return header.status().in(path);
  const uint64_t length = header->text.size();
  SafetensorsWriter writer;
  for (size_t i = 0; i < tensors.size(); ++i) {
    writer.places_.push_back({8 + length + header->offsets[i], *element_count(tensors[i].shape)});
  }
  writer.file_ = std::make_unique<TemporaryFile>(unresolved ? path : real.string());
  KAPITSA_RETURN_IF_ERROR(writer.file_->resize(8 + length + header->size));
  KAPITSA_RETURN_IF_ERROR(writer.file_->write(0, std::as_bytes(std::span(&length, 1))));
  KAPITSA_RETURN_IF_ERROR(writer.file_->write(8, std::as_bytes(std::span(header->text))));
  return writer;
}

Status SafetensorsWriter::write_bytes(size_t index, int64_t first,
                                      std::span<const std::byte> bytes) {
  const auto count = static_cast<int64_t>(bytes.size() / 4);
  if (index >= places_.size() || first < 0 || first > places_[index].count - count) {
    return error(Code::kInvalid, "values {} to {} of tensor {} are beyond its end", first,
                 first + count, index);
  }
  return file_->write(places_[index].offset + static_cast<uint64_t>(first) * 4, bytes);
}

Status SafetensorsWriter::write(size_t index, int64_t first, std::span<const float> values) {
  return write_bytes(index, first, std::as_bytes(values));
}
Status SafetensorsWriter::write(size_t index, int64_t first, std::span<const int32_t> values) {
  return write_bytes(index, first, std::as_bytes(values));
}

Status SafetensorsWriter::finish() {
  return file_->finish();
}

Status write_safetensors(const std::string& path, std::span<const TensorToWrite> tensors) {
  using Type = SafetensorsWriter::Type;
  std::vector<SafetensorsWriter::Declared> declared;
  for (const TensorToWrite& tensor : tensors) {
    const auto count = element_count(tensor.shape);
    const size_t given = std::visit([](auto values) { return values.size(); }, tensor.values);
    if (!count || static_cast<uint64_t>(*count) != given) {
      return error(Code::kInvalid, "{}: the tensor '{}' of shape {} is given {} values", path,
                   printable(tensor.name), shape_text(tensor.shape), given);
    }
    declared.push_back(
        {tensor.name, tensor.shape, tensor.values.index() == 0 ? Type::kF32 : Type::kI32});
  }
  KAPITSA_ASSIGN(auto writer, SafetensorsWriter::create(path, declared));
  for (size_t i = 0; i < tensors.size(); ++i) {
    KAPITSA_RETURN_IF_ERROR(
        std::visit([&](auto values) { return writer.write(i, 0, values); }, tensors[i].values));
  }
  return writer.finish();
}

}  // namespace kapitsa::weights
