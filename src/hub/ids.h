// Names on the hub: repositories, revisions and the files in them. Everything that becomes a part
// of a path or a URL passes through here first, because the hub's answers are foreign bytes too.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace kapitsa::hub {

// "org/name[@revision][:part]": `part` is a variant ("Q4_K_M") or a file ("model-Q8_0.gguf").
struct HubId {
  std::string repo;
  std::string revision = "main";
  std::string part;
};

// Parses a hub id; a leading "https://huggingface.co/" or "hf.co/" is accepted. Error: kInvalid.
Result<HubId> parse_hub_id(std::string_view text);

// True if `repo` is "org/name" as the hub allows it: letters, digits, '-', '_', '.', no "--" or
// "..".
bool valid_repo(std::string_view repo);
// True if `file` is a relative path that stays inside its folder, without control characters.
bool valid_file(std::string_view file);
// True for a branch, tag or commit name that is safe as a path.
bool valid_revision(std::string_view revision);
bool is_hex(std::string_view text, size_t length);
// True if `etag` is safe as a file name.
bool valid_etag(std::string_view etag);

std::string to_lower(std::string_view text);

}  // namespace kapitsa::hub
