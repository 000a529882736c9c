#include "hub/environment.h"

#include <charconv>
#include <cstdlib>

#include "base/file_map.h"
#include "hub/ids.h"

namespace kapitsa::hub {
namespace {

std::string trimmed(std::string text) {
  const auto blank = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  while (!text.empty() && blank(text.back())) text.pop_back();
  size_t begin = 0;
  while (begin < text.size() && blank(text[begin])) ++begin;
  return text.substr(begin);
}

bool is_true(const std::string& value) {
  const std::string lower = to_lower(value);
  return lower == "1" || lower == "true" || lower == "yes" || lower == "on";
}

}  // namespace

Environment read_environment(const GetEnv& get) {
  const auto or_empty = [&](const char* name) { return trimmed(get(name).value_or("")); };
  const std::string home = or_empty("HOME");
  const auto expanded = [&](std::string path) {
    return path == "~" || path.starts_with("~/") ? home + path.substr(1) : path;
  };
  const auto first = [&](std::initializer_list<std::string> paths) {
    for (const std::string& path : paths) {
      if (!path.empty()) return expanded(path);
    }
    return std::string();
  };
  const auto under = [](std::string base, const char* rest) {
    return base.empty() ? base : base + rest;
  };

  Environment env;
  if (std::string endpoint = or_empty("HF_ENDPOINT"); !endpoint.empty()) {
    while (endpoint.ends_with('/')) endpoint.pop_back();
    env.endpoint = endpoint;
  }
  const std::string hf_home =
      first({or_empty("HF_HOME"), under(or_empty("XDG_CACHE_HOME"), "/huggingface"),
             home + "/.cache/huggingface"});
  env.cache =
      first({or_empty("HF_HUB_CACHE"), or_empty("HUGGINGFACE_HUB_CACHE"), hf_home + "/hub"});
  env.token = first({or_empty("HF_TOKEN"), or_empty("HUGGING_FACE_HUB_TOKEN")});
  if (env.token.empty() && !is_true(or_empty("HF_HUB_DISABLE_IMPLICIT_TOKEN"))) {
    auto stored = read_file(first({or_empty("HF_TOKEN_PATH"), hf_home + "/token"}), 64 << 10);
    if (stored.ok()) env.token = trimmed(*std::move(stored));
  }
  // A line break in a token would smuggle a header into each request.
  if (env.token.find_first_of("\r\n") != env.token.npos) env.token.clear();
  env.offline = is_true(or_empty("HF_HUB_OFFLINE")) || is_true(or_empty("TRANSFORMERS_OFFLINE"));
  const std::string timeout = or_empty("HF_HUB_ETAG_TIMEOUT");
  int seconds = 0;
  if (std::from_chars(timeout.data(), timeout.data() + timeout.size(), seconds).ec == std::errc() &&
      seconds > 0) {
    env.timeout_s = seconds;
  }
  env.user_catalogue =
      first({under(or_empty("XDG_CONFIG_HOME"), ""), home + "/.config"}) + "/kapitsa/models.json";
  return env;
}

Environment read_environment() {
  return read_environment([](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (value == nullptr) return std::nullopt;
    return value;
  });
}

}  // namespace kapitsa::hub
