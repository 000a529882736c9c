#include "hub/ids.h"

#include <algorithm>
#include <cctype>

namespace kapitsa::hub {
namespace {

bool word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
}

bool edge(char c) {
  return c == '-' || c == '.';
}

bool valid_repo_part(std::string_view part) {
  return !part.empty() && part.size() <= 96 && std::all_of(part.begin(), part.end(), word) &&
         !edge(part.front()) && !edge(part.back()) && part.find("--") == part.npos &&
         part.find("..") == part.npos;
}

}  // namespace

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

bool valid_repo(std::string_view repo) {
  const size_t slash = repo.find('/');
  return slash != repo.npos && valid_repo_part(repo.substr(0, slash)) &&
         valid_repo_part(repo.substr(slash + 1));
}

bool valid_file(std::string_view file) {
  if (file.empty() || file.size() > 1000) return false;
  for (const char c : file) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\\') return false;
  }
  while (true) {
    const size_t slash = file.find('/');
    const std::string_view part = file.substr(0, slash);
    if (part.empty() || part == "." || part == ".." || part.size() > 255) return false;
    if (slash == file.npos) return true;
    file.remove_prefix(slash + 1);
  }
}

bool valid_revision(std::string_view revision) {
  return valid_file(revision) && revision.size() <= 255 && revision.front() != '-' &&
         revision.find_first_of(" ?#%:*[~^") == revision.npos;
}

bool is_hex(std::string_view text, size_t length) {
  return text.size() == length && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool valid_etag(std::string_view etag) {
  return !etag.empty() && etag.size() <= 128 && std::all_of(etag.begin(), etag.end(), word) &&
         etag.front() != '.';
}

Result<HubId> parse_hub_id(std::string_view text) {
  const std::string_view whole = text;
  for (const std::string_view prefix :
       {"https://huggingface.co/", "huggingface.co/", "https://hf.co/", "hf.co/"}) {
    if (text.starts_with(prefix)) {
      text.remove_prefix(prefix.size());
      break;
    }
  }
  HubId id;
  if (const size_t colon = text.find(':'); colon != text.npos) {
    id.part = text.substr(colon + 1);
    text = text.substr(0, colon);
    if (!valid_file(id.part)) {
      return error(Code::kInvalid, "{}: what follows ':' must be a variant or a file's name",
                   whole);
    }
  }
  if (const size_t at = text.find('@'); at != text.npos) {
    id.revision = text.substr(at + 1);
    text = text.substr(0, at);
    if (!valid_revision(id.revision)) {
      return error(Code::kInvalid, "{}: '{}' is not the name of a revision", whole, id.revision);
    }
  }
  if (!valid_repo(text)) {
    return error(Code::kInvalid, "'{}' is not a hub id; one looks like org/name or org/name:Q4_K_M",
                 whole);
  }
  id.repo = text;
  return id;
}

}  // namespace kapitsa::hub
