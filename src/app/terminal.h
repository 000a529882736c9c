// What the program's output goes to: a terminal with or without colours, a file, a pipe that may
// close.
#pragma once

#include <cstdio>
#include <string_view>

#include "base/status.h"

namespace kapitsa::app {

bool is_terminal(std::FILE* stream);
// A terminal that colours may be sent to: NO_COLOR is unset and TERM is not "dumb".
bool has_colours(std::FILE* stream);

inline constexpr std::string_view kDim = "\x1b[2m";
inline constexpr std::string_view kBold = "\x1b[1m";
inline constexpr std::string_view kPlain = "\x1b[0m";

// Writes to stdout at once. False where the reader is gone or the disk is full: output_status()
// says which.
bool put(std::string_view text);
// Ok, or why stdout did not take all that was written. A closed pipe is kCancelled: its reader has
// seen enough, and nobody needs to be told.
Status output_status();

// Prints "kapitsa: MESSAGE" to stderr and returns the exit code of a failure, 1. kCancelled is
// silent and returns 0.
int fail(const Status& status);

}  // namespace kapitsa::app
