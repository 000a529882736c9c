// Ctrl-C: ends the program, or is heard by whoever listens.
#pragma once

namespace kapitsa::app {

// From here on SIGINT ends the program with exit code 130, and SIGPIPE does nothing: writing to a
// closed pipe is an error that the writer sees.
void install_signals();

// While one lives (one at a time), SIGINT is only noted: the work at hand stops, the program goes
// on.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // Readable, for poll(), once SIGINT has come.
  int fd() const;
  // Whether SIGINT came since the last call.
  bool take();
};

}  // namespace kapitsa::app
