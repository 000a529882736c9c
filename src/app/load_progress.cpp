#include "app/load_progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/terminal.h"

namespace kapitsa::app {

LoadProgress::LoadProgress(std::string title, bool show)
    : title_(std::move(title)),
      show_(show && is_terminal(stderr)),
      next_(Clock::now() + std::chrono::milliseconds(400)) {}

void LoadProgress::update(double share) {
  const auto now = Clock::now();
  if (!show_ || now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  const std::string left = fmt::format("loading {} {:3}%", title_, static_cast<int>(share * 100));
  const int width = std::clamp(columns_of(stderr) - static_cast<int>(left.size()) - 5, 0, 40);
  const int full = std::clamp(static_cast<int>(share * width), 0, width);
  fmt::print(stderr, "\r{}", left);
  if (width >= 8) {
    fmt::print(stderr, " [{}{}]", std::string(static_cast<size_t>(full), '#'),
               std::string(static_cast<size_t>(width - full), '.'));
  }
  fmt::print(stderr, "\x1b[K");
  std::fflush(stderr);
  drawn_ = true;
}

void LoadProgress::finish() {
  if (drawn_) {
    fmt::print(stderr, "\r\x1b[K");
    std::fflush(stderr);
  }
  drawn_ = false;
}

}  // namespace kapitsa::app
