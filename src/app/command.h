// The commands of the program: each add_ function adds one subcommand whose callback sets `run`,
// which main calls after parsing; its result is the exit code (0 done, 1 failed, 2 wrong use).
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace kapitsa::app {

using Run = std::function<int()>;

void add_pull(CLI::App& root, Run& run);
void add_list(CLI::App& root, Run& run);
void add_rm(CLI::App& root, Run& run);

}  // namespace kapitsa::app
