// A model's files, opened and checked, with nothing decoded yet: tensors by the names that the
// files give them, and what the files say of the model.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_map.h"
#include "base/json.h"
#include "base/status.h"
#include "quant/format.h"
#include "quant/planes.h"
#include "weights/metadata.h"

namespace kapitsa::weights {

// One tensor as stored. `shape` is row-major with the contiguous (input) axis last, so a linear
// layer is [out, in] whatever the file format (GGUF's own order is the reverse).
struct Tensor {
  std::string name;
  quant::Format format;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;  // checked: exactly the size that format and shape ask for
  const FileMap* file = nullptr;     // whose mapping `bytes` lies in; null for bytes in memory
  std::shared_ptr<const quant::Planes> planes;  // of Format::planes, and only then; `bytes` are the codes

  int64_t rows() const;     // the product of all axes but the last
  int64_t columns() const;  // the last axis; 1 for a scalar
  size_t stored_bytes() const { return planes ? planes->bytes() : bytes.size(); }
  std::string format_name() const;
  // Row `row`, counted over all axes but the last, as float32.
  void decode_row(int64_t row, float* out) const;
};

enum class Container { gguf, safetensors };

class Checkpoint {
 public:
  // Opens a GGUF file, a .safetensors file's folder, a Hugging Face folder (single file, or sharded
  // with model.safetensors.index.json), or a folder that holds exactly one .gguf. Every header
  // field is checked against the files' sizes. Errors: kNotFound (nothing there, a shard is
  // missing), kCorrupt (the files contradict themselves), kUnsupported (a split GGUF, a tensor type
  // this build lacks).
  static Result<Checkpoint> open(const std::string& path);

  Container container = Container::gguf;
  std::string path;                 // what was opened
  Metadata metadata;                // GGUF only: the header's keys
  Json config;                      // Hugging Face only: config.json
  Json generation_config;           // Hugging Face only: generation_config.json, or null
  Json tokenizer_config;            // Hugging Face only: tokenizer_config.json, or null
  std::string tokenizer_json_path;  // Hugging Face only, empty where the folder has none
  std::string chat_template;        // from whichever place the files keep it; empty where none

  const Tensor* find(std::string_view name) const;
  // The tensor of that name, or an error that says whether the files lack it or hold it in a type
  // that this build does not read.
  Result<const Tensor*> require(std::string_view name) const;
  const std::map<std::string, Tensor, std::less<>>& tensors() const { return tensors_; }
  // Tensors that the files hold in a type this build does not read, by name, with the type's name.
  // They do no harm unless a model asks for them: many checkpoints carry integer tables that nobody
  // uses.
  const std::map<std::string, std::string, std::less<>>& unread() const { return unread_; }

  // Both refuse a second tensor of the same name.
  Status add(Tensor tensor);
  Status add_unread(std::string name, std::string type);
  void keep(std::shared_ptr<FileMap> file) { files_.push_back(std::move(file)); }
  // Bytes of all files together.
  size_t file_bytes() const;
  // Whether `path` is one of the files that the tensors lie in.
  bool holds(const std::string& path) const;

 private:
  std::map<std::string, Tensor, std::less<>> tensors_;
  std::map<std::string, std::string, std::less<>> unread_;
  std::vector<std::shared_ptr<FileMap>> files_;
};

}  // namespace kapitsa::weights
