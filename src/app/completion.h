// Completion scripts for shells, made from the commands as they are.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "base/status.h"

namespace kapitsa::app {

// `shell` is bash, zsh or fish. Error: kInvalid.
Result<std::string> completion_script(const CLI::App& root, std::string_view shell);

}  // namespace kapitsa::app
