// A conversation at the terminal.
#pragma once

#include "app/run_options.h"

namespace kapitsa::app {

// Loads the model and talks until the user leaves. Returns the exit code.
int chat(const RunOptions& options, const Globals& globals);

}  // namespace kapitsa::app
