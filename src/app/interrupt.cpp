#include "app/interrupt.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace kapitsa::app {
namespace {

volatile std::sig_atomic_t listening = 0;
int note[2] = {-1, -1};

void on_interrupt(int) {
  const int kept = errno;
  if (listening) {
    [[maybe_unused]] const auto written = write(note[1], "", 1);  // full: it was noted already
  } else {
    // A progress bar's line may be unfinished.
    if (isatty(STDERR_FILENO)) [[maybe_unused]]
      const auto written = write(STDERR_FILENO, "\n", 1);
    _exit(130);
  }
  errno = kept;
}

void set_handler(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);  // no SA_RESTART: reads give up
}

}  // namespace

void install_signals() {
  set_handler(SIGPIPE, SIG_IGN);
  struct sigaction old {};
  sigaction(SIGINT, nullptr, &old);
  if (old.sa_handler != SIG_IGN) set_handler(SIGINT, on_interrupt);  // `nohup`, `&` in scripts
}

Interrupt::Interrupt() {
  if (note[0] < 0 && pipe(note) == 0) {
    for (int end : note) {
      fcntl(end, F_SETFL, O_NONBLOCK);
      fcntl(end, F_SETFD, FD_CLOEXEC);
    }
  }
  listening = note[0] >= 0;
}

Interrupt::~Interrupt() {
  listening = 0;
  take();
}

int Interrupt::fd() const {
  return note[0];
}

bool Interrupt::take() {
  char bytes[16];
  bool came = false;
  while (read(note[0], bytes, sizeof bytes) > 0) came = true;
  return came;
}

}  // namespace kapitsa::app
