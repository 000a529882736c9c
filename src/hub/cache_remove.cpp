#include <algorithm>
#include <filesystem>
#include <set>

#include "hub/hf_cache.h"
#include "hub/ids.h"

namespace kapitsa::hub {
namespace fs = std::filesystem;
namespace {

uint64_t size_on_disk(const fs::path& path) {
  std::error_code code;
  if (fs::is_symlink(path, code)) return 0;
  const uint64_t size = fs::file_size(path, code);
  return code ? 0 : size;
}

// Deletes `folder` and those above it, up to `root`, as far as they are empty.
void remove_empty(fs::path folder, const fs::path& root) {
  std::error_code code;
  while (folder != root && fs::is_empty(folder, code) && !code && fs::remove(folder, code)) {
    folder = folder.parent_path();
  }
}

}  // namespace

Result<HfCache::Removed> HfCache::remove(const std::string& repo,
                                         const std::vector<std::string>& files) const {
  if (!valid_repo(repo)) return error(Code::kInvalid, "'{}' is not a repository's name", repo);
  const fs::path folder = repo_folder(repo);
  std::error_code code;
  if (!fs::is_directory(folder, code)) {
    return error(Code::kNotFound, "{}: not downloaded; nothing to remove in {}", repo, root_);
  }
  Removed removed;
  bool kept = false;
  std::set<std::string> used;  // blobs that stay
  std::set<std::string> freed;
  for (const std::string& commit : snapshots(repo)) {
    const fs::path root = snapshot(repo, commit);
    std::vector<fs::path> entries;
    for (fs::recursive_directory_iterator at(root, code), end; !code && at != end;
         at.increment(code)) {
      std::error_code ignored;
      if (!at->is_directory(ignored) || at->is_symlink(ignored)) entries.push_back(at->path());
    }
    for (const fs::path& entry : entries) {
      const std::string name = entry.lexically_relative(root).generic_string();
      std::string target;
      if (fs::is_symlink(entry, code)) {
        const fs::path blob =
            (entry.parent_path() / fs::read_symlink(entry, code)).lexically_normal();
        // A link that leads out of the blobs' folder is somebody else's file: only the link goes.
        if (blob.parent_path() == (folder / "blobs").lexically_normal()) target = blob.string();
      }
      if (!files.empty() && std::find(files.begin(), files.end(), name) == files.end()) {
        kept = true;
        if (!target.empty()) used.insert(target);
        continue;
      }
      const uint64_t own = size_on_disk(entry);
      fs::remove(entry, code);
      if (code) return error(Code::kUnavailable, "{}: {}", entry.string(), code.message());
      removed.files.push_back(name);
      removed.bytes += own;
      if (!target.empty()) freed.insert(target);
      remove_empty(entry.parent_path(), folder / "snapshots");
    }
  }
  for (const std::string& blob : freed) {
    if (used.contains(blob)) continue;
    const uint64_t size = size_on_disk(blob);
    if (fs::remove(blob, code)) removed.bytes += size;
  }
  if (!kept) {
    // Nothing of it is left: what remains are blobs without a name and unfinished downloads.
    for (fs::recursive_directory_iterator at(folder, code), end; !code && at != end;
         at.increment(code)) {
      std::error_code ignored;
      if (at->is_regular_file(ignored) && !at->is_symlink(ignored))
        removed.bytes += size_on_disk(at->path());
    }
    fs::remove_all(folder, code);
    if (code) return error(Code::kUnavailable, "{}: {}", folder.string(), code.message());
    fs::remove_all(fs::path(root_) / ".locks" / folder.filename(), code);
  }
  std::sort(removed.files.begin(), removed.files.end());
  removed.files.erase(std::unique(removed.files.begin(), removed.files.end()), removed.files.end());
  return removed;
}

}  // namespace kapitsa::hub
