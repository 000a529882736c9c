#include "weights/checkpoint.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "weights/gguf.h"
#include "weights/hf_folder.h"
#include "weights/printable.h"

namespace kapitsa::weights {
namespace fs = std::filesystem;

int64_t Tensor::rows() const {
  int64_t product = 1;
  for (size_t i = 0; i + 1 < shape.size(); ++i) product *= shape[i];
  return product;
}

int64_t Tensor::columns() const {
  return shape.empty() ? 1 : shape.back();
}

std::string Tensor::format_name() const {
  return planes ? planes->name() : std::string(quant::info(format).name);
}

void Tensor::decode_row(int64_t row, float* out) const {
  const auto width = static_cast<size_t>(columns());
  if (!planes) return quant::decode_row(format, bytes.data() + static_cast<size_t>(row) * quant::row_bytes(format, width), width, out);
  // Each matrix of a stack has scales of its own.
  const int64_t matrix_rows = shape.size() > 2 ? shape[shape.size() - 2] : rows();
  planes->matrix(row / matrix_rows, matrix_rows).decode(row % matrix_rows, 0, columns(), out);
}

const Tensor* Checkpoint::find(std::string_view name) const {
  const auto it = tensors_.find(name);
  return it == tensors_.end() ? nullptr : &it->second;
}

Result<const Tensor*> Checkpoint::require(std::string_view name) const {
  if (const Tensor* tensor = find(name)) return tensor;
  if (const auto it = unread_.find(name); it != unread_.end()) {
    return error(Code::kUnsupported,
                 "{}: the tensor '{}' is stored as {}, which this build does not read", path,
                 printable(name), printable(it->second));
  }
  return error(Code::kNotFound, "{}: there is no tensor '{}'", path, printable(name));
}

Status Checkpoint::add(Tensor tensor) {
  std::string name = tensor.name;
  if (unread_.contains(name) || !tensors_.try_emplace(name, std::move(tensor)).second) {
    return error(Code::kCorrupt, "two tensors are named '{}'", printable(name));
  }
  return {};
}

Status Checkpoint::add_unread(std::string name, std::string type) {
  if (tensors_.contains(name) || !unread_.try_emplace(name, std::move(type)).second) {
    return error(Code::kCorrupt, "two tensors are named '{}'", printable(name));
  }
  return {};
}

bool Checkpoint::holds(const std::string& path) const {
  std::error_code missing;
  return std::any_of(files_.begin(), files_.end(), [&](const auto& file) {
    return std::filesystem::equivalent(file->path(), path, missing);
  });
}

size_t Checkpoint::file_bytes() const {
  size_t sum = 0;
  for (const auto& file : files_) sum += file->bytes().size();
  return sum;
}

namespace {

bool starts_with(const FileMap& file, std::string_view magic) {
  return file.bytes().size() >= magic.size() &&
         std::memcmp(file.bytes().data(), magic.data(), magic.size()) == 0;
}

Result<Checkpoint> open_gguf(const std::string& path) {
  KAPITSA_ASSIGN(auto file, FileMap::open(path));
  if (starts_with(*file, "version https://git-lfs")) {
    return error(Code::kInvalid, "{}: is a Git LFS pointer, not the weights; run `git lfs pull`",
                 path);
  }
  if (!starts_with(*file, "GGUF")) {
    const auto head = file->bytes().first(std::min<size_t>(4, file->bytes().size()));
    return error(Code::kInvalid,
                 "{}: is neither GGUF (it begins with '{}', not 'GGUF') nor .safetensors", path,
                 printable({reinterpret_cast<const char*>(head.data()), head.size()}));
  }
  Checkpoint checkpoint;
  checkpoint.path = path;
  if (Status status = parse_gguf(file->bytes(), file.get(), checkpoint); !status.ok()) {
    return status.in(path);
  }
  checkpoint.keep(std::move(file));
  return checkpoint;
}

Result<Checkpoint> open_hf(const std::string& folder) {
  Checkpoint checkpoint;
  checkpoint.path = folder;
  KAPITSA_RETURN_IF_ERROR(read_hf_folder(folder, checkpoint));
  return checkpoint;
}

Result<Checkpoint> open_folder(const std::string& folder) {
  if (is_hf_folder(folder)) return open_hf(folder);
  std::error_code failed;
  std::vector<std::string> ggufs;
  bool other_weights = false;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    const std::string extension = it->path().extension().string();
    if (extension == ".gguf") ggufs.push_back(it->path().string());
    if (extension == ".bin" || extension == ".pt" || extension == ".pth") other_weights = true;
  }
  if (failed) return error(Code::kUnavailable, "{}: {}", folder, failed.message());
  if (ggufs.size() == 1) return open_gguf(ggufs[0]);
  if (ggufs.size() > 1) {
    std::sort(ggufs.begin(), ggufs.end());
    return error(Code::kInvalid, "{}: holds {} .gguf files; name the one to open, for example {}",
                 folder, ggufs.size(), ggufs[0]);
  }
  return error(other_weights ? Code::kUnsupported : Code::kNotFound,
               "{}: holds no model: it needs config.json with model.safetensors or "
               "model.safetensors.index.json, or one .gguf file{}",
               folder,
               other_weights ? " (PyTorch files are not read: convert them to safetensors)" : "");
}

}  // namespace

Result<Checkpoint> Checkpoint::open(const std::string& path) {
  std::error_code failed;
  const fs::file_status status = fs::status(path, failed);
  if (status.type() == fs::file_type::not_found) {
    return error(Code::kNotFound, "{}: no such file or folder", path);
  }
  if (fs::is_directory(status)) return open_folder(path);
  if (fs::path(path).extension() == ".safetensors") {
    // The parent of the path as given: in the hub's cache the file itself is a link into another
    // folder.
    const fs::path folder = fs::path(path).parent_path();
    return open_hf(folder.empty() ? "." : folder.string());
  }
  return open_gguf(path);
}

}  // namespace kapitsa::weights
