// An engine behind the HTTP server: what `kapitsa serve` runs once the model is loaded.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "engine/engine.h"
#include "net/options.h"

namespace kapitsa::app {

struct ServeOptions {
  net::ServerOptions net;
  std::string api_key;               // empty: none is asked for
  bool insecure_public = false;      // other machines may come without a key
  std::vector<std::string> aliases;  // further names of the model; "*": any
  std::vector<std::string> allow_hosts;
  std::vector<std::string> allow_origins;
};

// Refuses what would open the machine to others by accident: a host beyond loopback without a key.
// Separate, so that it is said before a model is loaded.
Status check(const ServeOptions& options);

// "http://127.0.0.1:8080"
std::string url_of(const std::string& host, int port);

// Serves until a signal (or `stop`, which `ready` receives) ends it. `ready` is called once, with the
// port, when requests are taken. Errors: those of check() and of binding the port.
Status serve(engine::Engine& engine, const ServeOptions& options,
             const std::function<void(int port, std::function<void()> stop)>& ready);

}  // namespace kapitsa::app
