// From what the user typed as MODEL to files, and to a running engine; progress shows on a
// terminal.
#pragma once

#include <memory>
#include <string>

#include "app/globals.h"
#include "backend/backend.h"
#include "engine/engine.h"
#include "hub/resolve.h"

namespace kapitsa::app {

// The files of `model`; what an alias or hub id names and is not here is pulled if `download`
// allows it.
Result<hub::ModelFiles> find_model(const std::string& model, hub::Download download,
                                   const Globals& globals);

struct EngineOptions {
  int context = 0;  // tokens; 0: the model's own, or as much of it as memory holds
  int threads = 0;  // 0: one a physical core
  int max_batch = backend::kMaxDecodeRows;
  uint64_t memory = 0;  // bytes; 0: what the machine has
};

// Finds and loads `model`.
Result<std::unique_ptr<engine::Engine>> open_engine(const std::string& model,
                                                    const EngineOptions& options,
                                                    const Globals& globals);

}  // namespace kapitsa::app
