// How a download shows itself: a bar on a terminal, a plain line now and then elsewhere.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>

#include "hub/pull.h"

namespace kapitsa::hub {

class ProgressBar {
 public:
  // `title` stands before the bar. Writes to `out`; `terminal` chooses the form
  // (isatty(fileno(out))).
  ProgressBar(std::string title, std::FILE* out, bool terminal);
  // The same on stderr.
  explicit ProgressBar(std::string title);
  ~ProgressBar() { finish(); }

  void show(const PullProgress& progress);
  // Ends the bar's line.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  void draw(const PullProgress& progress, Clock::time_point now);

  std::string title_;
  std::FILE* out_;
  bool terminal_;
  bool drawn_ = false;
  Phase phase_ = Phase::kDownloading;
  Clock::time_point next_;
  Clock::time_point rate_at_;
  uint64_t rate_bytes_ = 0;
  bool measuring_ = false;
  double rate_ = 0;  // bytes a second, smoothed
};

// "4:07", "1:02:03"; for how long is left.
std::string clock_text(double seconds);

}  // namespace kapitsa::hub
