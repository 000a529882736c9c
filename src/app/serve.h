// The `serve` command.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>

#include "base/status.h"
#include "engine/engine.h"

namespace kapitsa::app {

// What the command line says about the model.
struct ServeModel {
  std::string model;  // as typed: an alias, a file, a folder, a hub id
  int context = 0;    // 0: as the model's files say, or what memory allows
  int threads = 0;    // 0: as many as the machine has cores
  uint64_t memory = 0;  // bytes; 0: what the machine has
};

// Finds and loads a model.
using LoadEngine = std::function<Result<std::unique_ptr<engine::Engine>>(const ServeModel&)>;

// Adds `serve`. Its callback sets `run`, which loads the model with `load` and serves it until a signal;
// the result is the exit code: 0 drained, 1 failed, 2 wrong use.
void add_serve(CLI::App& root, std::function<int()>& run, LoadEngine load);

}  // namespace kapitsa::app
