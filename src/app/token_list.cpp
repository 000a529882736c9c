#include "app/token_list.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "app/standard_input.h"
#include "base/file_map.h"
#include "weights/printable.h"
#include "weights/safetensors.h"

namespace kapitsa::app {
namespace {

Result<std::vector<int32_t>> from_safetensors(const std::string& path) {
  KAPITSA_ASSIGN(const auto file, weights::SafetensorsFile::open(path));
  const weights::StoredTensor* tensor = file.find("tokens");
  if (tensor == nullptr)
    return error(Code::kInvalid, "{}: there is no tensor `tokens` in it", path);
  if (tensor->dtype != "I32" || tensor->shape.size() != 1) {
    return error(Code::kInvalid, "{}: `tokens` has {} dimensions of {}; it must be one of I32",
                 path, tensor->shape.size(), weights::printable(tensor->dtype));
  }
  std::vector<int32_t> tokens(tensor->bytes.size() / 4);
  if (tokens.empty()) return error(Code::kInvalid, "{}: `tokens` is empty", path);
  std::memcpy(tokens.data(), tensor->bytes.data(), tokens.size() * 4);
  return tokens;
}

}  // namespace

Result<std::vector<int32_t>> parse_tokens(std::string_view text, std::string_view what) {
  constexpr std::string_view kBetween = " \t\r\n,[]";
  std::vector<int32_t> tokens;
  for (size_t at = 0, from = 0; (at = text.find_first_not_of(kBetween, at)) != text.npos; from = at) {
    const auto between = text.substr(from, at - from);
    if (std::count(between.begin(), between.end(), ',') > (tokens.empty() ? 0 : 1)) {
      return error(Code::kInvalid, "{}: a token id is missing before byte {}", what, at);
    }
    const size_t end = std::min(text.find_first_of(kBetween, at), text.size());
    const std::string_view word = text.substr(at, end - at);
    int32_t id = 0;
    const auto [stop, fault] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (fault != std::errc() || stop != word.data() + word.size() || id < 0) {
      return error(Code::kInvalid, "{}: '{}' at byte {} is no token id", what,
                   weights::printable(word), at);
    }
    tokens.push_back(id);
    at = end;
  }
  if (tokens.empty()) return error(Code::kInvalid, "{}: there are no token ids", what);
  return tokens;
}

Result<std::vector<int32_t>> read_tokens(const std::string& source, const Globals& globals) {
  if (source == "-") {
    KAPITSA_ASSIGN(const std::string text, read_standard_input(globals));
    return parse_tokens(text, "standard input");
  }
  std::error_code code;
  const bool exists = std::filesystem::exists(source, code);
  if (!exists && source.find_first_not_of("0123456789, []") == source.npos)
    return parse_tokens(source, "--tokens");
  if (!exists)
    return error(Code::kNotFound, "{}: there is no such file, and it is no list of token ids",
                 source);
  if (source.ends_with(".safetensors")) return from_safetensors(source);
  KAPITSA_ASSIGN(const std::string text, read_file(source));
  return parse_tokens(text, source);
}

}  // namespace kapitsa::app
