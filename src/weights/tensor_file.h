// A file of tensors that is being written: a container's layout (gguf_writer.h, safetensors_writer.h) over an OutputFile.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "weights/output_file.h"

namespace kapitsa::weights {

struct FileLayout {
  struct Place {
    uint64_t offset = 0, size = 0;  // from the file's beginning, bytes
  };
  std::string head;           // what stands before the tensors
  std::vector<Place> places;  // by tensor, in the order in which they were declared
  uint64_t size = 0;
};

class TensorFile {
 public:
  // Begins the file: see OutputFile::create.
  static Result<TensorFile> create(const std::string& path, FileLayout layout, const OutputFile::Resume& resume = {});

  // Bytes of tensor `index` from `offset` on; any thread, any order. Bytes that are never written are zero. Error kInvalid:
  // beyond its end.
  Status write(size_t index, uint64_t offset, std::span<const std::byte> bytes);
  Status whole(size_t index) { return file_->whole(index, layout_.places[index].size); }
  bool was_whole(size_t index) const { return file_->was_whole(index); }
  const FileLayout::Place& place(size_t index) const { return layout_.places[index]; }
  Status finish() { return file_->finish(); }

 private:
  FileLayout layout_;
  std::unique_ptr<OutputFile> file_;
};

}  // namespace kapitsa::weights
