#include "weights/hf_index.h"

#include <nlohmann/json.hpp>

#include "base/file_map.h"
#include "weights/printable.h"

namespace kapitsa::weights {
namespace {

constexpr size_t kMostIndexBytes = size_t{32} << 20;

}  // namespace

Result<ShardIndex> read_shard_index(const std::string& path) {
  KAPITSA_ASSIGN(const std::string text, read_file(path, kMostIndexBytes));
  // The sorted kind of JSON object: the project's ordered kind looks each key up linearly, too slow
  // for tens of thousands of them.
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto map = json.is_object() ? json.find("weight_map") : json.end();
  if (!json.is_object() || map == json.end() || !map->is_object() || map->empty()) {
    return error(Code::kCorrupt, "{}: has no weight_map object that names the shards", path);
  }
  ShardIndex index;
  for (const auto& [tensor, shard] : map->items()) {
    if (!shard.is_string()) {
      return error(Code::kCorrupt, "{}: the shard of '{}' is not a string", path,
                   printable(tensor));
    }
    const auto& name = shard.get_ref<const std::string&>();
    if (name.empty() || name == "." || name == ".." ||
        name.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos) {
      return error(Code::kCorrupt, "{}: the shard '{}' of '{}' is not a plain file name", path,
                   printable(name), printable(tensor));
    }
    index[name].insert(tensor);
  }
  return index;
}

}  // namespace kapitsa::weights
