#include "weights/tensor_file.h"

namespace kapitsa::weights {

Result<TensorFile> TensorFile::create(const std::string& path, FileLayout layout, const OutputFile::Resume& resume) {
  TensorFile out;
  KAPITSA_ASSIGN(out.file_, OutputFile::create(path, layout.size, resume));
  KAPITSA_RETURN_IF_ERROR(out.file_->write(0, std::as_bytes(std::span(layout.head))));
  layout.head.clear();
  layout.head.shrink_to_fit();
  out.layout_ = std::move(layout);
  return out;
}

Status TensorFile::write(size_t index, uint64_t offset, std::span<const std::byte> bytes) {
  if (index >= layout_.places.size() || offset > layout_.places[index].size || bytes.size() > layout_.places[index].size - offset) {
    return error(Code::kInvalid, "the bytes {} to {} of tensor {} are beyond its end", offset, offset + bytes.size(), index);
  }
  return file_->write(layout_.places[index].offset + offset, bytes);
}

}  // namespace kapitsa::weights
