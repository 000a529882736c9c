// Printing to stderr. A terminal that is gone or a full disk behind it loses the words, never the work.
#pragma once

#include <fmt/format.h>

#include <cstdio>

namespace kapitsa {

template <class... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  const std::string text = fmt::format(format, std::forward<Args>(args)...);
  [[maybe_unused]] const size_t written = std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace kapitsa
