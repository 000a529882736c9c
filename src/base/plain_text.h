// Text of strangers (names in files, requests, what a model writes) made safe to print: nothing in it may steer a terminal.
#pragma once

#include <string>
#include <string_view>

namespace kapitsa {

// `text` with control characters other than line feed and tab, and those that turn the direction of writing, as U+FFFD.
std::string without_controls(std::string_view text);

// The same on one line: line feeds and tabs become spaces.
std::string one_line(std::string_view text);

}  // namespace kapitsa
