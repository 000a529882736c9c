// The program: its commands, their parsing, its exit codes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kapitsa::app {

// 0 done, 1 failed, 2 wrong use, 130 ended by Ctrl-C.
int run_program(int argc, char** argv);

// The one of `words` that `text` most likely meant, or empty.
std::string nearest(std::string_view text, const std::vector<std::string>& words);

}  // namespace kapitsa::app
