#include "hub/download.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <list>
#include <thread>

#include "hub/checksum.h"
#include "hub/ids.h"
#include "hub/human_bytes.h"
#include "hub/partial_file.h"
#include "hub/url.h"

namespace kapitsa::hub {
namespace {

using Clock = std::chrono::steady_clock;

struct FreeMulti {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};

// "bytes 5-9/100" as (5, 100); total 0 where the server writes '*'. False if it is not that.
bool parse_content_range(std::string_view text, uint64_t* begin, uint64_t* total) {
  if (!text.starts_with("bytes ")) return false;
  text.remove_prefix(6);
  const char* const stop = text.data() + text.size();
  const auto first = std::from_chars(text.data(), stop, *begin);
  const size_t slash = text.find('/');
  if (first.ec != std::errc() || slash == text.npos) return false;
  *total = 0;
  if (text.substr(slash + 1) == "*") return true;
  return std::from_chars(text.data() + slash + 1, stop, *total).ec == std::errc();
}

class Transfer {
 public:
  Transfer(const DownloadJob& job, const Environment& env, const DownloadOptions& options,
           const DownloadProgress& progress, PartialFile* file)
      : job_(job),
        env_(env),
        options_(options),
        progress_(progress),
        file_(file),
        multi_(curl_multi_init()) {}
  ~Transfer() {
    for (Piece& piece : active_) curl_multi_remove_handle(multi_.get(), piece.easy.get());
  }

  Status run() {
    plan();
    while (fatal_.ok() && (!todo_.empty() || !active_.empty())) {
      if (options_.retry.cancelled()) return error(Code::kCancelled, "{}: stopped", job_.name);
      start_pieces();
      int running = 0;
      curl_multi_perform(multi_.get(), &running);
      collect();
      curl_multi_poll(multi_.get(), nullptr, 0, may_start() ? 0 : 50, nullptr);
      report();
    }
    for (Piece& piece : active_) (void)journal(piece);
    return fatal_;
  }

 private:
  // One request under way, for [position, range.end).
  struct Piece {
    Transfer* owner = nullptr;
    ByteRange range;
    uint64_t position = 0;  // the next byte to write
    uint64_t recorded = 0;  // up to here it is in the journal
    bool checked = false;   // status and Content-Range were looked at
    bool body_is_file = false;
    bool direct = false;  // asked of where the hub had sent us, not of the hub
    std::string url;
    Response response;
    HeaderList headers;
    Easy easy;
  };

  void plan() {
    todo_.clear();
    const uint64_t piece = no_ranges_ ? UINT64_MAX : options_.piece;
    for (const ByteRange gap : file_->done().missing(job_.size, piece)) todo_.push_back(gap);
  }

  bool may_start() const {
    // Until one answer has shown that ranges work and where the bytes are, one request is enough.
    const size_t most = proven_ && !no_ranges_ ? static_cast<size_t>(options_.connections) : 1;
    return fatal_.ok() && !todo_.empty() && active_.size() < most && Clock::now() >= resume_at_;
  }

  void start_pieces() {
    while (may_start()) {
      active_.emplace_back();
      Piece& piece = active_.back();
      piece.owner = this;
      piece.range = todo_.front();
      piece.position = piece.recorded = piece.range.begin;
      piece.direct = !direct_url_.empty();
      piece.url = piece.direct ? direct_url_ : job_.url;
      todo_.pop_front();
      piece.easy.reset(curl_easy_init());
      auto headers = prepare(piece.easy.get(), piece.url, env_, &piece.response);
      if (!headers.ok()) {
        fatal_ = headers.status();
        active_.pop_back();
        return;
      }
      piece.headers = *std::move(headers);
      CURL* easy = piece.easy.get();
      if (piece.range != ByteRange{0, job_.size}) {
        curl_easy_setopt(easy, CURLOPT_RANGE,
                         fmt::format("{}-{}", piece.range.begin, piece.range.end - 1).c_str());
      }
      curl_easy_setopt(easy, CURLOPT_PRIVATE, &piece);
      curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 256L << 10);
      curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_data);
      curl_easy_setopt(easy, CURLOPT_WRITEDATA, &piece);
      curl_multi_add_handle(multi_.get(), easy);
    }
  }

  static size_t on_data(char* data, size_t, size_t size, void* user) {
    auto* piece = static_cast<Piece*>(user);
    return piece->owner->take(*piece, {data, size}) ? size : 0;
  }

  // Looks at the status once the body begins. False: this request is of no use.
  bool check(Piece& piece) {
    piece.checked = true;
    curl_easy_getinfo(piece.easy.get(), CURLINFO_RESPONSE_CODE, &piece.response.status);
    if (piece.response.status == 206) {
      uint64_t begin = 0;
      uint64_t total = 0;
      if (!parse_content_range(piece.response.header("content-range"), &begin, &total) ||
          begin != piece.range.begin || (total != 0 && total != job_.size)) {
        fatal_ =
            error(Code::kCorrupt,
                  "{}: asked for bytes from {} of {}, the server sends '{}'; try again later",
                  job_.name, piece.range.begin, job_.size, piece.response.header("content-range"));
        return false;
      }
      piece.body_is_file = proven_ = true;
    } else if (piece.response.status == 200) {
      if (piece.range != ByteRange{0, job_.size}) {
        no_ranges_ = true;
        return false;
      }
      piece.body_is_file = true;
    }
    return true;
  }

  bool take(Piece& piece, std::span<const char> bytes) {
    if (!piece.checked && !check(piece)) return false;
    if (!piece.body_is_file) return true;  // the page of an error: thrown away
    if (bytes.size() > piece.range.end - piece.position) {
      fatal_ =
          error(Code::kCorrupt, "{}: the server sends more than the {} bytes that the hub states",
                job_.name, job_.size);
      return false;
    }
    if (Status status = file_->write(piece.position, bytes); !status.ok()) {
      fatal_ = status;
      return false;
    }
    piece.position += bytes.size();
    failures_ = 0;
    if (piece.position - piece.recorded >= options_.journal_every) {
      if (Status status = journal(piece); !status.ok()) {
        fatal_ = status;
        return false;
      }
    }
    return true;
  }

  Status journal(Piece& piece) {
    const ByteRange range{piece.recorded, piece.position};
    piece.recorded = piece.position;
    return file_->record(range);
  }

  void collect() {
    int left = 0;
    while (CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode code = message->data.result;
      Piece* piece = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &piece);
      curl_multi_remove_handle(multi_.get(), message->easy_handle);
      if (fatal_.ok()) finish(*piece, code);
      active_.remove_if([&](const Piece& other) { return &other == piece; });
    }
    // Nothing that is under way or planned in pieces helps where the server ignores ranges.
    if (no_ranges_ && !restarted_ && fatal_.ok()) {
      restarted_ = true;
      for (Piece& piece : active_) curl_multi_remove_handle(multi_.get(), piece.easy.get());
      active_.clear();
      fatal_ = file_->reset();
      plan();
    }
  }

  void finish(Piece& piece, CURLcode code) {
    if (no_ranges_ && !restarted_) return;
    if (Status status = journal(piece); !status.ok()) {
      fatal_ = status;
      return;
    }
    curl_easy_getinfo(piece.easy.get(), CURLINFO_RESPONSE_CODE, &piece.response.status);
    if (!piece.checked && code == CURLE_OK && piece.response.status / 100 == 2) (void)check(piece);
    const long status = piece.response.status;
    if (piece.body_is_file && piece.position == piece.range.end) return;
    if (ends_early(piece, code)) {
      fatal_ = error(Code::kCorrupt,
                     "{}: the server has {} bytes of it, the hub states {}; try again later",
                     job_.name, piece.position, job_.size);
      return;
    }
    if (no_ranges_) {
      // Without ranges a cut means the whole file again.
      fatal_ = file_->reset();
      todo_.push_front({0, job_.size});
    } else {
      todo_.push_front({piece.position, piece.range.end});
    }
    if (code == CURLE_OK && status >= 300 && status < 400) return redirect(piece);
    // A signed address that has run out: ask the hub for a new one.
    const bool expired = piece.direct && status >= 400 && status < 500 && status != 429;
    if (expired) direct_url_.clear();
    if (code == CURLE_OK && status >= 400 && status < 500 && status != 429 && status != 408 &&
        !expired) {
      fatal_ = status == 404 ? error(Code::kNotFound, "{}: not found on the hub", job_.name)
                             : status_error(piece.response, job_.repo, env_);
      return;
    }
    // Connections that break together are one failure, or four of them would use up the patience.
    if (Clock::now() < resume_at_) return;
    if (++failures_ >= options_.attempts) {
      const Status why = code != CURLE_OK || status < 400
                             ? transfer_error(code, piece.url)
                             : status_error(piece.response, job_.repo, env_);
      fatal_ =
          error(why.code(), "{} ({} of {} of {} are kept; run this again to go on)", why.message(),
                human_bytes(file_->done().bytes()), human_bytes(job_.size), job_.name);
      return;
    }
    resume_at_ =
        Clock::now() + options_.retry.wait(failures_, piece.response.header("retry-after"));
  }

  // True for a whole answer that is shorter than the hub stated: asking again is of no use.
  static bool ends_early(const Piece& piece, CURLcode code) {
    if (code != CURLE_OK) return false;
    return piece.response.status == 416 || (piece.response.status == 200 && piece.body_is_file &&
                                            !piece.response.header("content-length").empty());
  }

  void redirect(const Piece& piece) {
    auto next = redirect_target(piece.url, piece.response.header("location"));
    if (!next.ok()) {
      fatal_ = next.status();
    } else if (++redirects_ > 40) {
      fatal_ = error(Code::kUnavailable, "{}: redirects without end", job_.name);
    } else {
      direct_url_ = *std::move(next);
    }
  }

  void report() {
    if (!progress_) return;
    uint64_t bytes = file_->done().bytes();
    for (const Piece& piece : active_) bytes += piece.position - piece.recorded;
    progress_(Phase::kDownloading, bytes);
  }

  const DownloadJob& job_;
  const Environment& env_;
  const DownloadOptions& options_;
  const DownloadProgress& progress_;
  PartialFile* file_;
  std::unique_ptr<CURLM, FreeMulti> multi_;
  std::list<Piece> active_;
  std::deque<ByteRange> todo_;
  std::string direct_url_;  // where the hub redirected to, until that address runs out
  Clock::time_point resume_at_;
  int failures_ = 0;
  int redirects_ = 0;
  bool proven_ = false;
  bool no_ranges_ = false;
  bool restarted_ = false;
  Status fatal_;
};

// Error kCorrupt: with what was expected and what is there.
Status verify(const DownloadJob& job, const DownloadOptions& options,
              const DownloadProgress& progress) {
  const std::string path = PartialFile::data_path(job.target);
  const HashProgress seen = [&](uint64_t bytes) {
    if (progress) progress(Phase::kVerifying, bytes);
    return !options.retry.cancelled();
  };
  const auto compare = [&](const char* kind, const std::string& expected,
                           const std::string& found) -> Status {
    if (expected == found) return Status();
    return error(Code::kCorrupt,
                 "{}: its {} is {}, it should be {}; the download was thrown away, try again",
                 job.name, kind, found, expected);
  };
  if (is_hex(job.etag, 64) || !job.sha256.empty()) {
    KAPITSA_ASSIGN(const std::string found, sha256_file(path, seen));
    if (is_hex(job.etag, 64)) KAPITSA_RETURN_IF_ERROR(compare("SHA-256", job.etag, found));
    if (!job.sha256.empty()) KAPITSA_RETURN_IF_ERROR(compare("SHA-256", job.sha256, found));
  } else if (is_hex(job.etag, 40)) {
    KAPITSA_ASSIGN(const std::string found, git_blob_id(path, seen));
    KAPITSA_RETURN_IF_ERROR(compare("git object id", job.etag, found));
  }
  return Status();
}

}  // namespace

uint64_t resumable_bytes(const DownloadJob& job) {
  return PartialFile::left_over(job.target, job.size, job.etag).bytes();
}

Status download(const DownloadJob& job, const Environment& env, const DownloadOptions& options,
                const DownloadProgress& progress) {
  for (bool resumed = true; resumed;) {
    KAPITSA_ASSIGN(PartialFile file, PartialFile::open(job.target, job.size, job.etag));
    resumed = file.done().bytes() > 0;
    if (job.size > 0) {
      Transfer transfer(job, env, options, progress, &file);
      KAPITSA_RETURN_IF_ERROR(transfer.run());
    }
    const Status verified = verify(job, options, progress);
    if (verified.ok()) return file.commit();
    if (verified.code() != Code::kCorrupt) return verified;
    file.discard();
    // What an earlier run left may be to blame (a crash of the machine): once more from the start.
    if (!resumed) return verified;
  }
  return Status();
}

}  // namespace kapitsa::hub
