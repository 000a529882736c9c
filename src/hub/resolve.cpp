#include "hub/resolve.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/file_map.h"
#include "base/json.h"
#include "hub/hf_cache.h"
#include "hub/ids.h"
#include "hub/select.h"

namespace kapitsa::hub {
namespace fs = std::filesystem;
namespace {

// What safetensors need to be whole: every shard that the index names, or the one file.
bool folder_is_whole(const std::string& folder) {
  std::error_code code;
  if (!fs::is_regular_file(folder + "/config.json", code)) return false;
  const std::string index = folder + "/model.safetensors.index.json";
  if (!fs::is_regular_file(index, code)) {
    for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) {
      if (at->path().extension() == ".safetensors" && at->is_regular_file(code)) return true;
    }
    return false;
  }
  auto text = read_file(index);
  if (!text.ok()) return false;
  auto json = parse_json(*text, index);
  if (!json.ok() || !json->is_object() || !json->contains("weight_map")) return false;
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : (*json)["weight_map"].items()) {
    if (shard.is_string()) shards.insert(shard.get<std::string>());
  }
  return !shards.empty() &&
         std::all_of(shards.begin(), shards.end(), [&](const std::string& shard) {
           return valid_file(shard) && fs::is_regular_file(folder + "/" + shard, code);
         });
}

// "-00001-of-00003.gguf" says how many parts there are; all must be here.
bool parts_are_whole(const std::vector<std::string>& files) {
  const std::string& first = files.front();
  const size_t of = first.rfind("-of-");
  if (of == first.npos || first.size() != of + 4 + 5 + 5) return true;
  size_t parts = 0;
  for (size_t i = of + 4; i < of + 9; ++i) {
    if (first[i] < '0' || first[i] > '9') return true;
    parts = parts * 10 + static_cast<size_t>(first[i] - '0');
  }
  return files.size() == parts;
}

Result<ModelFiles> as_model(const std::string& folder, const std::vector<std::string>& files) {
  ModelFiles model;
  for (const std::string& file : files) {
    if (!is_model_gguf(file)) continue;
    if (!parts_are_whole(files))
      return error(Code::kNotFound, "{}: parts of {} are missing", folder, file);
    model.path = folder + "/" + file;
    return model;
  }
  if (!folder_is_whole(folder)) return error(Code::kNotFound, "{}: weights are missing", folder);
  model.path = folder;
  model.folder = true;
  return model;
}

// A path that exists, as a model.
Result<ModelFiles> from_path(const std::string& path) {
  std::error_code code;
  ModelFiles model;
  model.path = path;
  model.name = fs::path(path).lexically_normal().filename().string();
  if (!fs::is_directory(path, code)) {
    if (!to_lower(path).ends_with(".safetensors")) return model;
    // One file of a Hugging Face folder: the folder is the model.
    const std::string folder = fs::path(path).parent_path().string();
    return from_path(folder.empty() ? "." : folder);
  }
  model.folder = true;
  if (model.name.empty() || model.name == ".")
    model.name = fs::weakly_canonical(path, code).filename().string();
  if (fs::is_regular_file(path + "/config.json", code)) return model;
  std::vector<std::string> files;
  for (fs::directory_iterator at(path, code), end; !code && at != end; at.increment(code)) {
    if (is_model_gguf(at->path().filename().string()))
      files.push_back(at->path().filename().string());
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    return error(Code::kNotFound, "{}: this folder has neither a config.json nor a GGUF file",
                 path);
  }
  if (files.size() > 1 && select_files(files, files.front(), path)->size() != files.size()) {
    return error(Code::kInvalid,
                 "{}: this folder has several GGUF files; name one, for example {}/{}", path, path,
                 files.front());
  }
  model.path = path + "/" + files.front();
  model.folder = false;
  return model;
}

bool looks_like_path(std::string_view model) {
  const std::string lower = to_lower(model);
  return model.starts_with("/") || model.starts_with("./") || model.starts_with("../") ||
         model == "." || model == ".." || model.starts_with("~") ||
         (lower.ends_with(".gguf") && model.find(':') == model.npos) ||
         lower.ends_with(".safetensors");
}

}  // namespace

Result<Target> target_of(std::string_view model, const Catalogue& catalogue) {
  Target target;
  const size_t colon = model.find(':');
  if (model.find('/') == model.npos) {
    const std::string_view alias = model.substr(0, colon);
    const std::string_view wanted = colon == model.npos ? "" : model.substr(colon + 1);
    target.entry = catalogue.find(alias);
    if (target.entry == nullptr) {
      const std::string near = catalogue.suggest(alias);
      return error(Code::kNotFound,
                   "'{}' is no model that I know{}; name an alias (see `kapitsa list`), a GGUF "
                   "file, a folder, or "
                   "a hub id such as org/name",
                   model, near.empty() ? "" : "; did you mean '" + near + "'?");
    }
    target.variant = find_variant(*target.entry, wanted);
    if (target.variant == nullptr) {
      std::string names;
      for (const Variant& variant : target.entry->variants) {
        names += (names.empty() ? "" : ", ") + variant.name;
      }
      return error(Code::kNotFound, "'{}' has no variant '{}'; there are: {}", target.entry->name(),
                   wanted, names);
    }
    target.request = {target.variant->repo, target.variant->revision, target.variant->part,
                      target.variant->files};
    return target;
  }
  KAPITSA_ASSIGN(const HubId id, parse_hub_id(model));
  target.request = {id.repo, id.revision, id.part, {}};
  target.entry = catalogue.find_repo(id.repo);
  return target;
}

Result<ModelFiles> find_local(const Target& target, const Environment& env) {
  const HfCache cache(env.cache);
  const PullRequest& request = target.request;
  std::vector<std::string> commits;
  if (const auto commit = cache.commit_of(request.repo, request.revision))
    commits.push_back(*commit);
  // Without a name for it, any snapshot will do where the branch is the usual one.
  if (request.revision == "main") {
    for (const std::string& commit : cache.snapshots(request.repo)) commits.push_back(commit);
  }
  for (const std::string& commit : commits) {
    const std::vector<std::string> here = cache.files_of(request.repo, commit);
    std::vector<std::string> wanted;
    if (request.files.empty()) {
      auto selected = select_files(here, request.part, request.repo);
      if (!selected.ok()) continue;
      wanted = *std::move(selected);
    } else {
      for (const CatalogueFile& file : request.files) wanted.push_back(file.name);
      if (!std::all_of(wanted.begin(), wanted.end(), [&](const std::string& file) {
            return std::binary_search(here.begin(), here.end(), file);
          })) {
        continue;
      }
    }
    auto model = as_model(cache.snapshot(request.repo, commit), wanted);
    if (!model.ok()) continue;
    model->name = target.variant != nullptr ? target.entry->name() : request.repo;
    if (target.entry != nullptr) model->entry = *target.entry;
    return model;
  }
  return error(Code::kNotFound, "{}: not downloaded", request.repo);
}

Result<ModelFiles> resolve(std::string_view model, Download download, const Environment& env,
                           const PullOptions& options, const OnPullProgress& progress) {
  std::error_code code;
  const std::string path(model);
  if (model.empty()) return error(Code::kInvalid, "no model was named");
  if (path.find('\0') != path.npos)
    return error(Code::kInvalid, "a model's name has no zero bytes");
  const bool exists = fs::exists(path, code);
  if (exists && (looks_like_path(model) || model.find('/') != model.npos)) return from_path(path);
  if (looks_like_path(model)) return error(Code::kNotFound, "{}: no such file or folder", path);

  KAPITSA_ASSIGN(const Catalogue catalogue, Catalogue::load(env.user_catalogue));
  const auto target = target_of(model, catalogue);
  if (!target.ok()) return exists ? from_path(path) : target.status();
  auto local = find_local(*target, env);
  if (local.ok()) return local;
  if (download == Download::kNever || env.offline) {
    return error(Code::kNotFound, "{}: not downloaded{}; get it with: kapitsa pull {}", path,
                 env.offline ? ", and HF_HUB_OFFLINE is set" : "", path);
  }
  KAPITSA_RETURN_IF_ERROR(pull(target->request, env, options, progress).status());
  return find_local(*target, env);
}

}  // namespace kapitsa::hub
