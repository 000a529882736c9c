#include "weights/safetensors_writer.h"

#include <set>

#include "base/json.h"
#include "weights/printable.h"
#include "weights/safetensors.h"
#include "weights/tensor_size.h"

namespace kapitsa::weights {

Result<FileLayout> safetensors_layout(std::span<const SafetensorsTensor> tensors, const std::map<std::string, std::string>& metadata) {
  Json json = Json::object();
  if (!metadata.empty()) json["__metadata__"] = metadata;
  std::set<std::string_view> names;
  FileLayout out;
  for (const SafetensorsTensor& tensor : tensors) {
    if (tensor.name == "__metadata__" || !names.insert(tensor.name).second) {
      return error(Code::kInvalid, "the name '{}' is taken", printable(tensor.name));
    }
    const int bits = dtype_bits(tensor.dtype);
    const auto count = element_count(tensor.shape);
    if (bits == 0 || !count || *count > (int64_t{1} << 60) || *count * bits % 8 != 0) {
      return error(Code::kInvalid, "the tensor '{}' cannot have the shape {} in {}",
                   printable(tensor.name), shape_text(tensor.shape), printable(tensor.dtype));
    }
    const uint64_t bytes = static_cast<uint64_t>(*count) * static_cast<uint64_t>(bits) / 8;
    json[tensor.name] = {{"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {out.size, out.size + bytes}}};
    out.places.push_back({out.size, bytes});
    out.size += bytes;
  }
  std::string text;
  try {
    text = json.dump();
  } catch (const std::exception&) {
    return error(Code::kInvalid, "a tensor's name is not UTF-8");
  }
  // The data begins at a multiple of 8.
  text.append((8 - text.size() % 8) % 8, ' ');
  const uint64_t length = text.size();
  out.head.assign(reinterpret_cast<const char*>(&length), sizeof(length));
  out.head += text;
  for (auto& place : out.places) place.offset += out.head.size();
  out.size += out.head.size();
  return out;
}

Result<SafetensorsWriter> SafetensorsWriter::create(const std::string& path,
                                                    std::span<const Declared> tensors) {
  std::vector<SafetensorsTensor> typed;
  for (const Declared& tensor : tensors) {
    typed.push_back({tensor.name, tensor.type == Type::kF32 ? "F32" : "I32", tensor.shape});
  }
  auto layout = safetensors_layout(typed);
  if (!layout.ok()) return layout.status().in(path);
  KAPITSA_ASSIGN(auto file, TensorFile::create(path, *std::move(layout)));
  return SafetensorsWriter(std::move(file));
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
