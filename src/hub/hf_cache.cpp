#include "hub/hf_cache.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/file_map.h"
#include "hub/ids.h"

namespace kapitsa::hub {
namespace fs = std::filesystem;
namespace {

std::vector<std::string> folders_in(const std::string& path) {
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator at(path, code), end; !code && at != end; at.increment(code)) {
    std::error_code ignored;
    if (at->is_directory(ignored)) names.push_back(at->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Status make_parent(const std::string& path) {
  std::error_code code;
  fs::create_directories(fs::path(path).parent_path(), code);
  if (!code) return Status();
  return error(Code::kUnavailable, "{}: the folder cannot be made: {}",
               fs::path(path).parent_path().string(), code.message());
}

}  // namespace

std::string HfCache::repo_folder(const std::string& repo) const {
  const size_t slash = repo.find('/');
  return root_ + "/models--" + repo.substr(0, slash) + "--" + repo.substr(slash + 1);
}

std::string HfCache::blob(const std::string& repo, const std::string& etag) const {
  return repo_folder(repo) + "/blobs/" + etag;
}

std::string HfCache::lock(const std::string& repo, const std::string& etag) const {
  return root_ + "/.locks/" + fs::path(repo_folder(repo)).filename().string() + "/" + etag +
         ".lock";
}

std::string HfCache::snapshot(const std::string& repo, const std::string& commit) const {
  return repo_folder(repo) + "/snapshots/" + commit;
}

std::optional<std::string> HfCache::commit_of(const std::string& repo,
                                              const std::string& revision) const {
  if (!valid_repo(repo) || !valid_revision(revision)) return std::nullopt;
  if (is_hex(revision, 40)) return revision;
  auto text = read_file(repo_folder(repo) + "/refs/" + revision, 4096);
  if (!text.ok()) return std::nullopt;
  std::string commit = *std::move(text);
  while (!commit.empty() && std::isspace(static_cast<unsigned char>(commit.back())))
    commit.pop_back();
  if (!is_hex(commit, 40)) return std::nullopt;
  return commit;
}

std::vector<std::string> HfCache::files_of(const std::string& repo,
                                           const std::string& commit) const {
  std::vector<std::string> files;
  const std::string folder = snapshot(repo, commit);
  std::error_code code;
  for (fs::recursive_directory_iterator at(folder, code), end; !code && at != end;
       at.increment(code)) {
    std::error_code broken;
    // A link whose blob is missing does not count.
    if (at->is_regular_file(broken))
      files.push_back(at->path().lexically_relative(folder).generic_string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> HfCache::snapshots(const std::string& repo) const {
  return folders_in(repo_folder(repo) + "/snapshots");
}

std::vector<std::string> HfCache::repos() const {
  std::vector<std::string> repos;
  for (const std::string& name : folders_in(root_)) {
    if (!name.starts_with("models--")) continue;
    const size_t dashes = name.find("--", 8);
    if (dashes == name.npos) continue;
    const std::string repo = name.substr(8, dashes - 8) + "/" + name.substr(dashes + 2);
    if (valid_repo(repo)) repos.push_back(repo);
  }
  return repos;
}

Status HfCache::link(const std::string& repo, const std::string& commit, const std::string& file,
                     const std::string& etag) const {
  const std::string path = snapshot(repo, commit) + "/" + file;
  KAPITSA_RETURN_IF_ERROR(make_parent(path));
  std::error_code code;
  if (fs::is_regular_file(path, code)) return Status();
  fs::remove(path, code);
  const fs::path target =
      fs::path(blob(repo, etag)).lexically_relative(fs::path(path).parent_path());
  fs::create_symlink(target, path, code);
  // A disk without links (exFAT): the file itself moves into the snapshot, as other tools do there.
  if (code) fs::rename(blob(repo, etag), path, code);
  if (code) return error(Code::kUnavailable, "{}: cannot be made: {}", path, code.message());
  return Status();
}

Status HfCache::write_ref(const std::string& repo, const std::string& revision,
                          const std::string& commit) const {
  if (is_hex(revision, 40)) return Status();  // a commit stands for itself
  const std::string path = repo_folder(repo) + "/refs/" + revision;
  KAPITSA_RETURN_IF_ERROR(make_parent(path));
  const std::string fresh = path + fmt::format(".{}.new", getpid());
  std::ofstream(fresh) << commit;
  std::error_code code;
  fs::rename(fresh, path, code);
  if (code) return error(Code::kUnavailable, "{}: {}", path, code.message());
  return Status();
}

Result<uint64_t> free_space(const std::string& path) {
  fs::path at = fs::path(path).lexically_normal();
  std::error_code code;
  while (!fs::exists(at, code) && at.has_parent_path() && at != at.parent_path())
    at = at.parent_path();
  struct statvfs info {};
  if (statvfs(at.empty() ? "." : at.c_str(), &info) != 0) {
    return error(Code::kUnavailable, "{}: {}", path, std::strerror(errno));
  }
  return static_cast<uint64_t>(info.f_bavail) * info.f_frsize;
}

}  // namespace kapitsa::hub
