#include "app/load_progress.h"

#include <fmt/format.h>

#include "app/terminal.h"
#include "base/progress_bar.h"
#include "base/say.h"

namespace kapitsa::app {

LoadProgress::LoadProgress(std::string title, bool show)
    : title_(std::move(title)),
      show_(show && is_terminal(stderr)),
      next_(Clock::now() + std::chrono::milliseconds(400)) {}

void LoadProgress::update(double share) {
  const auto now = Clock::now();
  if (!show_ || now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  const std::string left = fmt::format("{} {:3}%", title_, static_cast<int>(share * 100));
  const int room = columns_of(stderr) - static_cast<int>(left.size()) - 3;
  say("\r{} {}\x1b[K", left, progress_bar(share, room));
  std::fflush(stderr);
  drawn_ = true;
}

void LoadProgress::finish() {
  if (drawn_) {
    say("\r\x1b[K");
    std::fflush(stderr);
  }
  drawn_ = false;
}

}  // namespace kapitsa::app
