#include "hub/pull.h"

#include <algorithm>
#include <filesystem>

#include "hub/file_lock.h"
#include "hub/hf_cache.h"
#include "hub/hub_api.h"
#include "hub/ids.h"
#include "hub/human_bytes.h"
#include "hub/select.h"

namespace kapitsa::hub {
namespace fs = std::filesystem;
namespace {

// The files to get, each with what the hub lists of it.
Result<std::vector<RemoteFile>> choose(const PullRequest& request, const Listing& listing) {
  std::vector<std::string> names;
  if (request.files.empty()) {
    std::vector<std::string> all;
    for (const RemoteFile& file : listing.files) all.push_back(file.name);
    KAPITSA_ASSIGN(names, select_files(all, request.part, request.repo));
  } else {
    for (const CatalogueFile& file : request.files) names.push_back(file.name);
  }
  std::vector<RemoteFile> chosen;
  for (const std::string& name : names) {
    const auto found = std::find_if(listing.files.begin(), listing.files.end(),
                                    [&](const RemoteFile& file) { return file.name == name; });
    if (found == listing.files.end()) {
      return error(Code::kNotFound, "{}: has no file '{}' any more; the catalogue is out of date",
                   request.repo, name);
    }
    chosen.push_back(*found);
  }
  return chosen;
}

Status check_space(const std::vector<DownloadJob>& jobs, const std::string& root,
                   const FreeSpace& free) {
  uint64_t needed = 0;
  for (const DownloadJob& job : jobs) needed += job.size - std::min(job.size, resumable_bytes(job));
  KAPITSA_ASSIGN(const uint64_t room, free ? free(root) : free_space(root));
  if (needed <= room) return Status();
  return error(
      Code::kExhausted,
      "{} are still to download and {} has {} free; free {} there, or set HF_HOME to another disk",
      human_bytes(needed), root, human_bytes(room), human_bytes(needed - room));
}

}  // namespace

Result<Pulled> pull(const PullRequest& request, const Environment& env, const PullOptions& options,
                    const OnPullProgress& progress) {
  if (!valid_repo(request.repo))
    return error(Code::kInvalid, "'{}' is not a repository's name", request.repo);
  if (!valid_revision(request.revision)) {
    return error(Code::kInvalid, "'{}' is not the name of a revision", request.revision);
  }
  if (env.offline) {
    return error(Code::kUnavailable, "{}: HF_HUB_OFFLINE is set; unset it to download",
                 request.repo);
  }
  const RetryPolicy& retry = options.download.retry;
  const HfCache cache(env.cache);
  KAPITSA_ASSIGN(const Listing listing, list_files(request.repo, request.revision, env, retry));
  KAPITSA_ASSIGN(const std::vector<RemoteFile> chosen, choose(request, listing));

  Pulled pulled;
  pulled.commit = listing.commit;
  pulled.folder = cache.snapshot(request.repo, listing.commit);
  std::vector<DownloadJob> jobs;
  uint64_t here = 0;
  for (const RemoteFile& file : chosen) {
    pulled.files.push_back(file.name);
    const std::string path = pulled.folder + "/" + file.name;
    std::error_code code;
    if (fs::is_regular_file(path,
                            code)) {  // a snapshot belongs to one commit: it cannot be out of date
      here += fs::file_size(path, code);
      continue;
    }
    KAPITSA_ASSIGN(const FileMetadata metadata,
                   file_metadata(request.repo, listing.commit, file, env, retry));
    if (metadata.commit != listing.commit) {
      return error(Code::kCorrupt, "{}/{}: the hub answers for commit {}, asked for {}",
                   request.repo, file.name, metadata.commit, listing.commit);
    }
    DownloadJob job;
    job.name = fmt::format("{}/{}", request.repo, file.name);
    job.repo = request.repo;
    job.url = file_url(request.repo, listing.commit, file.name, env);
    job.target = cache.blob(request.repo, metadata.etag);
    job.etag = metadata.etag;
    job.sha256 = file.sha256;
    job.size = metadata.size;
    for (const CatalogueFile& known : request.files) {
      if (known.name != file.name || known.sha256.empty()) continue;
      if (!job.sha256.empty() && job.sha256 != known.sha256) {
        return error(Code::kCorrupt,
                     "{}: the hub now has SHA-256 {}, the catalogue expects {}; not downloaded",
                     job.name, job.sha256, known.sha256);
      }
      job.sha256 = known.sha256;
    }
    jobs.push_back(std::move(job));
  }
  pulled.bytes = here;
  for (const DownloadJob& job : jobs) pulled.bytes += job.size;

  std::error_code code;
  fs::create_directories(cache.repo_folder(request.repo) + "/blobs", code);
  if (code) {
    return error(Code::kUnavailable,
                 "{}: the folder cannot be made: {}; set HF_HOME to one that can",
                 cache.repo_folder(request.repo), code.message());
  }
  KAPITSA_RETURN_IF_ERROR(check_space(jobs, cache.root(), options.free_space));

  for (const DownloadJob& job : jobs) {
    const std::string file = job.name.substr(request.repo.size() + 1);
    const auto report = [&](Phase phase, uint64_t bytes) {
      if (!progress) return;
      progress(
          {phase, file, phase == Phase::kVerifying ? here + job.size : here + bytes, pulled.bytes});
    };
    KAPITSA_ASSIGN(const FileLock lock, FileLock::acquire(cache.lock(request.repo, job.etag), [&] {
                     report(Phase::kWaiting, 0);
                     return !retry.cancelled();
                   }));
    // Another process, or another tool, may have brought it meanwhile.
    const bool there =
        fs::is_regular_file(job.target, code) && fs::file_size(job.target, code) == job.size;
    if (!there) {
      const uint64_t before = resumable_bytes(job);
      KAPITSA_RETURN_IF_ERROR(download(job, env, options.download, report));
      pulled.downloaded += job.size - std::min(job.size, before);
    }
    KAPITSA_RETURN_IF_ERROR(cache.link(request.repo, listing.commit, file, job.etag));
    here += job.size;
    report(Phase::kDownloading, 0);
  }
  // Last, so that the name never stands for a snapshot that lacks files.
  KAPITSA_RETURN_IF_ERROR(cache.write_ref(request.repo, request.revision, listing.commit));
  return pulled;
}

}  // namespace kapitsa::hub
