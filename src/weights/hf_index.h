// model.safetensors.index.json: which shard holds which tensor.
#pragma once

#include <map>
#include <set>
#include <string>

#include "base/status.h"

namespace kapitsa::weights {

// Shard file name -> the tensors in it.
using ShardIndex = std::map<std::string, std::set<std::string>>;

// Reads an index file. Shard names must be plain file names: an index cannot point out of its
// folder.
Result<ShardIndex> read_shard_index(const std::string& path);

}  // namespace kapitsa::weights
