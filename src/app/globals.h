// What holds for every command.
#pragma once

namespace kapitsa::app {

struct Globals {
  int verbosity = 0;   // -v raises it: 1 info, 2 debug
  bool quiet = false;  // -q: no progress, no statistics, no notes; errors only
};

}  // namespace kapitsa::app
