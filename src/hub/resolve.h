// From what a user calls a model to files on this disk.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "hub/catalogue.h"
#include "hub/environment.h"
#include "hub/pull.h"

namespace kapitsa::hub {

enum class Download { kNever, kIfMissing };

struct ModelFiles {
  std::string path;  // a GGUF file (the first part of a split one), or a folder with config.json
  bool folder = false;
  std::string name;            // what to call the model: the alias, the hub id or the file's name
  std::optional<Entry> entry;  // of the catalogue, where there is one: its sampling is the default
};

// What MODEL stands for on the hub: an alias ("flint", "flint:q4_k_m") or a hub id. Error:
// kNotFound with the nearest alias, kInvalid.
struct Target {
  PullRequest request;
  const Entry* entry = nullptr;  // points into the catalogue
  const Variant* variant = nullptr;
};
Result<Target> target_of(std::string_view model, const Catalogue& catalogue);

// Where `target` is in the cache, complete; kNotFound if it is not.
Result<ModelFiles> find_local(const Target& target, const Environment& env);

// MODEL is an alias, a GGUF file, a folder or a hub id ("org/name[@revision][:variant or file]").
// What is named by alias or id and not here yet is pulled if `download` allows it. A path wins over
// a hub id, an alias over a path without '/'. Errors: kNotFound, kInvalid, and those of pull().
Result<ModelFiles> resolve(std::string_view model, Download download, const Environment& env,
                           const PullOptions& options = {},
                           const OnPullProgress& progress = nullptr);

}  // namespace kapitsa::hub
