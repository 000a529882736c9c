#include "hub/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/progress_bar.h"
#include "hub/human_bytes.h"

namespace kapitsa::hub {

std::string clock_text(double seconds) {
  const auto total = static_cast<uint64_t>(std::clamp(seconds, 0.0, 359999.0));
  if (total >= 3600)
    return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
  return fmt::format("{}:{:02}", total / 60, total % 60);
}

ProgressBar::ProgressBar(std::string title, std::FILE* out, bool terminal)
    : title_(std::move(title)), out_(out), terminal_(terminal) {}

ProgressBar::ProgressBar(std::string title)
    : ProgressBar(std::move(title), stderr, isatty(STDERR_FILENO) != 0) {}

void ProgressBar::show(const PullProgress& progress) {
  const auto now = Clock::now();
  if (!measuring_ || progress.done < rate_bytes_) {
    measuring_ = true;
    rate_at_ = now;
    rate_bytes_ = progress.done;
  }
  const double passed = std::chrono::duration<double>(now - rate_at_).count();
  if (passed >= 0.5 && progress.phase == Phase::kDownloading) {
    const double fresh = static_cast<double>(progress.done - rate_bytes_) / passed;
    const double weight = rate_ == 0 ? 1 : 1 - std::exp(-passed / 4);
    rate_ += weight * (fresh - rate_);
    rate_at_ = now;
    rate_bytes_ = progress.done;
  }
  const bool new_phase = progress.phase != phase_;
  phase_ = progress.phase;
  if (!new_phase && now < next_ && progress.done < progress.total) return;
  next_ = now + (terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(5000));
  draw(progress, now);
}

void ProgressBar::draw(const PullProgress& progress, Clock::time_point) {
  const double share = progress.total == 0 ? 1
                                           : static_cast<double>(progress.done) /
                                                 static_cast<double>(progress.total);
  std::string right = fmt::format("{}/{}", human_bytes(progress.done), human_bytes(progress.total));
  if (progress.phase == Phase::kVerifying) {
    right += "  verifying";
  } else if (progress.phase == Phase::kWaiting) {
    right += "  waiting for another download";
  } else if (rate_ > 0) {
    right += fmt::format("  {}/s", human_bytes(static_cast<uint64_t>(rate_)));
    if (progress.done < progress.total) {
      right += fmt::format("  {} left",
                           clock_text(static_cast<double>(progress.total - progress.done) / rate_));
    }
  }
  const std::string left = fmt::format("{} {:3}%", title_, static_cast<int>(share * 100));
  if (!terminal_) {
    fmt::print(out_, "{}  {}\n", left, right);
    std::fflush(out_);
    return;
  }
  const int room = columns_of(out_) - static_cast<int>(left.size() + right.size()) - 4;
  const std::string bar = progress_bar(share, room);
  // Back to the line's start, then erase what the last, longer text left.
  fmt::print(out_, "\r{} {} {}\x1b[K", left, bar, right);
  std::fflush(out_);
  drawn_ = true;
}

void ProgressBar::finish() {
  if (terminal_ && drawn_) {
    std::fputc('\n', out_);
    std::fflush(out_);
  }
  drawn_ = false;
}

}  // namespace kapitsa::hub
