// The drawing of progress bars on a terminal.
#pragma once

#include <cstdio>
#include <string>

namespace kapitsa {

// Columns of the terminal behind `stream`; 80 where it does not say.
int columns_of(std::FILE* stream);

// "[####....]" of at most `room` columns for a share from 0 to 1; empty where that is too narrow to say
// anything.
std::string progress_bar(double share, int room);

}  // namespace kapitsa
