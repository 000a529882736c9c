// The environment variables of the Hugging Face tools, so that one setting serves all of them.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace kapitsa::hub {

struct Environment {
  std::string endpoint = "https://huggingface.co";  // HF_ENDPOINT, without a trailing '/'
  std::string cache;           // HF_HUB_CACHE, $HF_HOME/hub or ~/.cache/huggingface/hub
  std::string token;           // HF_TOKEN, or the file HF_TOKEN_PATH or $HF_HOME/token; empty: none
  bool offline = false;        // HF_HUB_OFFLINE
  int timeout_s = 10;          // HF_HUB_ETAG_TIMEOUT: to connect, and for an answer about a file
  std::string user_catalogue;  // ~/.config/kapitsa/models.json (XDG_CONFIG_HOME)
};

using GetEnv = std::function<std::optional<std::string>(const char*)>;

// Reads the process's environment.
Environment read_environment();
// The same from `get`, for tests.
Environment read_environment(const GetEnv& get);

}  // namespace kapitsa::hub
