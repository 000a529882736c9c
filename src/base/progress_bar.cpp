#include "base/progress_bar.h"

#include <sys/ioctl.h>

#include <algorithm>

namespace kapitsa {

int columns_of(std::FILE* stream) {
  winsize size{};
  return ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string progress_bar(double share, int room) {
  constexpr int kNarrow = 8, kWide = 40;
  const int width = std::min(room - 2, kWide);
  if (width < kNarrow) return {};
  const int full = std::clamp(static_cast<int>(share * width), 0, width);
  return "[" + std::string(static_cast<size_t>(full), '#') +
         std::string(static_cast<size_t>(width - full), '.') + "]";
}

}  // namespace kapitsa
