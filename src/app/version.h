// What `kapitsa --version` says.
#pragma once

#include <string>

namespace kapitsa::app {

// "kapitsa 0.1.0 (commit 1a2b3c4)", then the backends and what runs them here.
std::string version_text();

}  // namespace kapitsa::app
