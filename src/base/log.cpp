#include "base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>

#include <algorithm>

namespace kapitsa {

void init_logging(int verbosity) {
  auto logger = spdlog::stderr_color_mt("kapitsa");
  constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::err, spdlog::level::warn,
                                                   spdlog::level::info, spdlog::level::debug};
  logger->set_level(kLevels[std::clamp(verbosity + 1, 0, 3)]);
  logger->set_pattern("%H:%M:%S.%e %^%l%$ %v");
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace kapitsa
