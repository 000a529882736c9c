// Logging goes to stderr through spdlog: LOG-like calls are spdlog::info, warn, error, debug.
#pragma once

#include <spdlog/spdlog.h>

namespace kapitsa {

// Sets up stderr logging once at start. `verbosity`: -1 errors only, 0 warnings, 1 info, 2 debug.
void init_logging(int verbosity);

}  // namespace kapitsa
