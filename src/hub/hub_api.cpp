#include "hub/hub_api.h"

#include <charconv>

#include "base/json.h"
#include "hub/ids.h"
#include "hub/url.h"

namespace kapitsa::hub {
namespace {

std::optional<uint64_t> number(const std::string& text) {
  uint64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string plain_etag(std::string etag) {
  if (etag.starts_with("W/")) etag.erase(0, 2);
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"')
    etag = etag.substr(1, etag.size() - 2);
  return etag;
}

std::string text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

Result<Listing> parse_listing(std::string_view text, const std::string& repo) {
  KAPITSA_ASSIGN(const Json json, parse_json(text, repo + ": the hub's list of files"));
  const auto wrong = [&](std::string_view what) {
    return error(Code::kCorrupt, "{}: the hub's list of files {}", repo, what);
  };
  if (!json.is_object()) return wrong("is not an object");
  Listing listing;
  listing.commit = text_at(json, "sha");
  if (!is_hex(listing.commit, 40)) return wrong("names no commit of 40 hex digits");
  const auto siblings = json.find("siblings");
  if (siblings == json.end() || !siblings->is_array()) return wrong("has no \"siblings\"");
  for (const Json& sibling : *siblings) {
    if (!sibling.is_object()) return wrong("holds something that is not a file");
    RemoteFile file;
    file.name = text_at(sibling, "rfilename");
    if (!valid_file(file.name)) {
      return error(Code::kCorrupt,
                   "{}: the hub names a file '{}', which leaves its folder; refused", repo,
                   file.name);
    }
    if (const auto size = sibling.find("size");
        size != sibling.end() && size->is_number_unsigned()) {
      file.size = size->get<uint64_t>();
    }
    if (const auto lfs = sibling.find("lfs"); lfs != sibling.end() && lfs->is_object()) {
      file.sha256 = text_at(*lfs, "sha256");
      if (!is_hex(file.sha256, 64)) file.sha256.clear();
    }
    listing.files.push_back(std::move(file));
  }
  return listing;
}

Result<Listing> list_files(const std::string& repo, const std::string& revision,
                           const Environment& env, const RetryPolicy& retry) {
  if (!valid_repo(repo)) return error(Code::kInvalid, "'{}' is not a repository's name", repo);
  const std::string url = fmt::format("{}/api/models/{}/revision/{}?blobs=true", env.endpoint, repo,
                                      escape_segment(revision));
  KAPITSA_ASSIGN(const Response response, request(url, false, env, retry));
  if (response.status != 200) return status_error(response, repo, env);
  return parse_listing(response.body, repo);
}

std::string file_url(const std::string& repo, const std::string& revision, const std::string& file,
                     const Environment& env) {
  return fmt::format("{}/{}/resolve/{}/{}", env.endpoint, repo, escape_segment(revision),
                     escape_path(file));
}

Result<FileMetadata> file_metadata(const std::string& repo, const std::string& revision,
                                   const RemoteFile& file, const Environment& env,
                                   const RetryPolicy& retry) {
  const std::string url = file_url(repo, revision, file.name, env);
  KAPITSA_ASSIGN(const Response response, request(url, true, env, retry));
  const std::string place = fmt::format("{}/{}", repo, file.name);
  if (response.status >= 400) {
    return response.status == 404 ? error(Code::kNotFound, "{}: not found; see {}/{}/tree/{}",
                                          place, env.endpoint, repo, revision)
                                  : status_error(response, repo, env);
  }
  FileMetadata metadata;
  metadata.commit = response.header("x-repo-commit");
  if (!is_hex(metadata.commit, 40)) {
    return error(Code::kCorrupt,
                 "{}: the answer names no commit (X-Repo-Commit); is {} really a Hugging Face hub?",
                 place, env.endpoint);
  }
  const std::string linked_etag = response.header("x-linked-etag");
  metadata.etag = plain_etag(linked_etag.empty() ? response.header("etag") : linked_etag);
  if (!valid_etag(metadata.etag)) {
    return error(Code::kCorrupt, "{}: the hub's checksum (ETag) '{}' is not one", place,
                 metadata.etag);
  }
  std::optional<uint64_t> size = number(response.header("x-linked-size"));
  if (!size && response.status < 300) size = number(response.header("content-length"));
  if (!size) size = file.size;
  if (!size) return error(Code::kCorrupt, "{}: the hub does not say how large it is", place);
  if (file.size && *file.size != *size) {
    return error(Code::kCorrupt,
                 "{}: the hub lists it with {} bytes and serves it with {}; try again later", place,
                 *file.size, *size);
  }
  if (!file.sha256.empty() && is_hex(metadata.etag, 64) && file.sha256 != metadata.etag) {
    return error(Code::kCorrupt,
                 "{}: the hub lists it with SHA-256 {} and serves it with {}; try again later",
                 place, file.sha256, metadata.etag);
  }
  metadata.size = *size;
  return metadata;
}

}  // namespace kapitsa::hub
