// The commands of the program: each add_ function adds one subcommand whose callback sets `run`,
// which main calls after parsing; its result is the exit code (0 done, 1 failed, 2 wrong use).
// `globals` is filled in by then; it and `run` outlive the parsing.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "app/globals.h"

namespace kapitsa::app {

using Run = std::function<int()>;

void add_pull(CLI::App& root, Run& run);
void add_list(CLI::App& root, Run& run);
void add_rm(CLI::App& root, Run& run);
void add_run(CLI::App& root, Run& run, const Globals& globals);
void add_show(CLI::App& root, Run& run, const Globals& globals);
void add_tokenize(CLI::App& root, Run& run, const Globals& globals);
void add_logits(CLI::App& root, Run& run, const Globals& globals);
void add_quantize(CLI::App& root, Run& run, const Globals& globals);
void add_completion(CLI::App& root, Run& run);

}  // namespace kapitsa::app
