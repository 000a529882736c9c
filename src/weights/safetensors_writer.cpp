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

std::span<const std::byte> bytes_of(const TensorToWrite& tensor) {
  return std::visit([](auto values) { return std::as_bytes(values); }, tensor.values);
}

// The header's JSON, padded with spaces so that the data begins at a multiple of 8.
Result<std::string> make_header(std::span<const TensorToWrite> tensors) {
  Json header = Json::object();
  std::set<std::string_view> names;
  uint64_t offset = 0;
  for (const TensorToWrite& tensor : tensors) {
    if (tensor.name == "__metadata__" || !names.insert(tensor.name).second) {
      return error(Code::kInvalid, "the name '{}' is taken", printable(tensor.name));
    }
    const auto bytes = bytes_of(tensor);
    const auto count = element_count(tensor.shape);
    if (!count || static_cast<uint64_t>(*count) != bytes.size() / 4) {
      return error(Code::kInvalid, "the tensor '{}' of shape {} is given {} values",
                   printable(tensor.name), shape_text(tensor.shape), bytes.size() / 4);
    }
    header[tensor.name] = {{"dtype", tensor.values.index() == 0 ? "F32" : "I32"},
                           {"shape", tensor.shape},
                           {"data_offsets", {offset, offset + bytes.size()}}};
    offset += bytes.size();
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const std::exception&) {
    return error(Code::kInvalid, "a tensor's name is not UTF-8");
  }
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

Status failed(const std::string& path) {
  const Code code = errno == ENOSPC || errno == EDQUOT ? Code::kExhausted : Code::kUnavailable;
  return error(code, "{}: {}", path, std::strerror(errno));
}

// A file that is gone again unless it was renamed to its place.
class TemporaryFile {
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

  Status write(std::span<const std::byte> bytes) {
    if (file_ < 0) return failed(path_);
    while (!bytes.empty()) {
      const ssize_t n = ::write(file_, bytes.data(), std::min<size_t>(bytes.size(), 1 << 30));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return failed(path_);
      bytes = bytes.subspan(static_cast<size_t>(n));
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

}  // namespace

Status write_safetensors(const std::string& path, std::span<const TensorToWrite> tensors) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return error(Code::kInvalid, "{}: is not a regular file, and a result can only replace one",
                 path);
  }
  auto header = make_header(tensors);
  if (!header.ok()) return header.status().in(path);
  const uint64_t length = header->size();
  TemporaryFile file(path);
  KAPITSA_RETURN_IF_ERROR(file.write(std::as_bytes(std::span(&length, 1))));
  KAPITSA_RETURN_IF_ERROR(file.write(std::as_bytes(std::span(*header))));
  for (const TensorToWrite& tensor : tensors) KAPITSA_RETURN_IF_ERROR(file.write(bytes_of(tensor)));
  return file.finish();
}

}  // namespace kapitsa::weights
