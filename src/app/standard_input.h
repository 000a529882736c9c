// Standard input as a whole, for commands that take their text from a pipe.
#pragma once

#include <string>

#include "app/globals.h"
#include "base/status.h"

namespace kapitsa::app {

// Waiting for it is said after a second: the other end of a pipe may have nothing to send. More than 64 MB is an error:
// it is no prompt, and an endless stream must not eat the machine.
Result<std::string> read_standard_input(const Globals& globals);

}  // namespace kapitsa::app
