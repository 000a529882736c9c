#include "hub/memory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

#include "base/file_map.h"

namespace kapitsa::hub {
namespace {

#ifndef __APPLE__
// The limit in a control group's file, or the largest number where there is none ("max").
uint64_t limit_in(const char* path) {
  auto text = read_file(path, 4096);
  uint64_t bytes = 0;
  if (text.ok() &&
      std::from_chars(text->data(), text->data() + text->size(), bytes).ec == std::errc() &&
      bytes > 0) {
    return bytes;
  }
  return UINT64_MAX;
}
#endif

}  // namespace

uint64_t physical_memory() {
#ifdef __APPLE__
  uint64_t bytes = 0;
  size_t size = sizeof bytes;
  return sysctlbyname("hw.memsize", &bytes, &size, nullptr, 0) == 0 ? bytes : 0;
#else
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return 0;
  const uint64_t physical = static_cast<uint64_t>(pages) * static_cast<uint64_t>(page);
  return std::min({physical, limit_in("/sys/fs/cgroup/memory.max"),
                   limit_in("/sys/fs/cgroup/memory/memory.limit_in_bytes")});
#endif
}

std::string human_bytes(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  if (unit == 0) return fmt::format("{} B", bytes);
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, kUnits[unit]);
}

}  // namespace kapitsa::hub
