// The HTTP server: one I/O thread (the one that calls run()), a few workers that run the handler.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "net/handler.h"
#include "net/options.h"

namespace kapitsa::net {

class Server {
 public:
  // Binds. Errors: kUnavailable (the port is in use), kInvalid (not an address of this machine).
  static Result<std::unique_ptr<Server>> bind(ServerOptions options, Handlers handlers);
  ~Server();

  int port() const;
  // Serves until stop() or a signal, then drains. The handlers may still be called meanwhile.
  void run();
  // From any thread: as the first signal does; a second call ends at once.
  void stop();

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kapitsa::net
