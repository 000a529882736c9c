// What can be set about a server.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace kapitsa::net {

struct ReadLimits {
  size_t head = size_t{64} << 10;  // request line and headers together
  size_t body = size_t{32} << 20;
};

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 8080;  // 0: any free one
  ReadLimits limits;
  int max_connections = 1024;  // past it the idlest one is closed; where all are busy, further ones wait
  int workers = 2;             // threads that parse requests and render prompts
  size_t small = size_t{256} << 10;  // bodies up to here have one more worker to themselves: they need not wait for large ones

  using Time = std::chrono::milliseconds;
  Time idle{120'000};      // between two requests of a connection
  Time speak{1'000};       // what a connection may be idle for before it may have to make room for another
  Time head{10'000};       // from the first byte of a request to the end of its head
  Time body_stall{30'000}; // without a byte of a body that is on its way
  Time body{300'000};      // for the whole body
  Time drain_body{2'000};  // body_stall once the server has been told to end
  Time queue{60'000};      // for a request that waits for a worker
  Time prepare{30'000};    // for a worker to read it and prepare its answer
  Time write_stall{600'000};  // a reader who takes nothing (a suspended terminal is given ten minutes)
  Time heartbeat{5'000};   // silence of a stream before a sign of life
  Time drain{30'000};      // what running requests get to finish in when the server is told to end
  Time linger{2'000};      // for a client to read why it was refused while it still sends

  bool handle_signals = true;  // SIGINT and SIGTERM drain; a second one ends at once
};

}  // namespace kapitsa::net
