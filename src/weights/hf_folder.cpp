#include "weights/hf_folder.h"

#include <filesystem>
#include <vector>

#include "weights/hf_index.h"
#include "weights/join.h"
#include "weights/printable.h"
#include "weights/safetensors.h"

namespace kapitsa::weights {
namespace fs = std::filesystem;
namespace {

constexpr char kConfig[] = "config.json";
constexpr char kWeights[] = "model.safetensors";
constexpr char kIndex[] = "model.safetensors.index.json";

std::string in_folder(const std::string& folder, std::string_view name) {
  return (fs::path(folder) / name).string();
}

bool is_file(const std::string& path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed);
}

// The object in a JSON file; null where there is no such file.
Result<Json> read_object(const std::string& path) {
  if (!is_file(path)) return Json();
  KAPITSA_ASSIGN(const std::string text, read_file(path));
  KAPITSA_ASSIGN(Json json, parse_json(text, path));
  if (!json.is_object()) return error(Code::kCorrupt, "{}: holds no JSON object", path);
  return json;
}

// The template in a "chat_template" value: a string, or a list of {name, template} of which
// "default" counts. Empty for null.
Result<std::string> template_in(const Json& object, const std::string& path) {
  const auto it = object.is_object() ? object.find("chat_template") : object.end();
  if (!object.is_object() || it == object.end() || it->is_null()) return std::string();
  if (it->is_string()) return it->get<std::string>();
  if (it->is_array()) {
    for (const Json& item : *it) {
      if (!item.is_object() || !item.contains("name") || !item.contains("template")) continue;
      if (item["name"] == "default" && item["template"].is_string()) {
        return item["template"].get<std::string>();
      }
    }
    return std::string();
  }
  return error(Code::kCorrupt, "{}: chat_template is neither a string nor a list", path);
}

Status read_chat_template(const std::string& folder, Checkpoint& out) {
  if (const std::string jinja = in_folder(folder, "chat_template.jinja"); is_file(jinja)) {
    KAPITSA_ASSIGN(out.chat_template, read_file(jinja));
    return {};
  }
  const std::string own = in_folder(folder, "chat_template.json");
  KAPITSA_ASSIGN(const Json object, read_object(own));
  KAPITSA_ASSIGN(out.chat_template, template_in(object, own));
  if (out.chat_template.empty()) {
    KAPITSA_ASSIGN(out.chat_template,
                   template_in(out.tokenizer_config, in_folder(folder, "tokenizer_config.json")));
  }
  return {};
}

Status add(const StoredTensor& stored, const FileMap* file, RawTensors& raw) {
  if (raw.try_emplace(stored.name, stored, file).second) return {};
  return error(Code::kCorrupt, "two tensors are named '{}'", printable(stored.name));
}

Status read_whole(const std::string& path, RawTensors& raw, Checkpoint& out) {
  KAPITSA_ASSIGN(SafetensorsFile file, SafetensorsFile::open(path));
  for (const StoredTensor& stored : file.tensors) {
    KAPITSA_RETURN_IF_ERROR(add(stored, file.file.get(), raw).in(path));
  }
  out.keep(std::move(file.file));
  return {};
}

Status read_shards(const std::string& folder, RawTensors& raw, Checkpoint& out) {
  KAPITSA_ASSIGN(const ShardIndex index, read_shard_index(in_folder(folder, kIndex)));
  for (const auto& [shard, names] : index) {
    const std::string path = in_folder(folder, shard);
    if (!is_file(path)) {
      return error(Code::kNotFound, "{}: is missing, and {} names it; fetch the model again", path,
                   kIndex);
    }
    KAPITSA_ASSIGN(SafetensorsFile file, SafetensorsFile::open(path));
    size_t found = 0;
    for (const StoredTensor& stored : file.tensors) {
      if (!names.contains(stored.name)) continue;
      ++found;
      KAPITSA_RETURN_IF_ERROR(add(stored, file.file.get(), raw).in(path));
    }
    if (found != names.size()) {
      for (const std::string& name : names) {
        if (file.find(name) != nullptr) continue;
        return error(Code::kCorrupt, "{}: has no tensor '{}', which {} says is in it", path,
                     printable(name), kIndex);
      }
    }
    out.keep(std::move(file.file));
  }
  return {};
}

// Everything that is in the folder, by name.
Status read_tensors(const std::string& folder, RawTensors& raw, Checkpoint& out) {
  if (const std::string whole = in_folder(folder, kWeights); is_file(whole)) return read_whole(whole, raw, out);
  if (is_file(in_folder(folder, kIndex))) return read_shards(folder, raw, out);
  return error(Code::kNotFound, "{}: holds neither {} nor {}", folder, kWeights, kIndex);
}

}  // namespace

bool is_hf_folder(const std::string& folder) {
  return is_file(in_folder(folder, kConfig)) &&
         (is_file(in_folder(folder, kWeights)) || is_file(in_folder(folder, kIndex)));
}

Status read_hf_folder(const std::string& folder, Checkpoint& out) {
  out.container = Container::safetensors;
  const std::string config = in_folder(folder, kConfig);
  if (!is_file(config)) {
    return error(Code::kNotFound,
                 "{}: is missing; a Hugging Face model needs it beside its weights", config);
  }
  KAPITSA_ASSIGN(out.config, read_object(config));
  KAPITSA_ASSIGN(out.generation_config, read_object(in_folder(folder, "generation_config.json")));
  KAPITSA_ASSIGN(out.tokenizer_config, read_object(in_folder(folder, "tokenizer_config.json")));
  if (std::string path = in_folder(folder, "tokenizer.json"); is_file(path)) {
    out.tokenizer_json_path = std::move(path);
  }
  KAPITSA_RETURN_IF_ERROR(read_chat_template(folder, out));
  RawTensors raw;
  KAPITSA_RETURN_IF_ERROR(read_tensors(folder, raw, out));
  KAPITSA_RETURN_IF_ERROR(join_parts(raw, out).in(folder));
  for (auto& [name, tensor] : raw) {
    if (const auto format = format_of(tensor.stored.dtype)) {
      KAPITSA_RETURN_IF_ERROR(out.add({name, *format, tensor.stored.shape, tensor.stored.bytes, tensor.file, nullptr}));
    } else {
      KAPITSA_RETURN_IF_ERROR(out.add_unread(name, tensor.stored.dtype));
    }
  }
  return {};
}

}  // namespace kapitsa::weights
