// What a user of the server writes: how a request is judged, and how it is answered.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "base/cancel.h"
#include "net/message.h"

namespace kapitsa::net {

// The next part of a response that is still being made.
struct Piece {
  std::optional<Response> head;  // exactly once, with or before the first bytes; its body comes first
  std::string bytes;
  bool end = false;  // together with `head`: a whole response, sent with its length
};

// A response that another thread is still working on. Only the I/O thread calls it. It is destroyed
// when the response is out or as soon as the client has left: the destructor ends the work.
class Pending {
 public:
  virtual ~Pending() = default;

  // Called once. `wake` may be called from any thread, at any time, also after this object is gone:
  // poll() then follows soon, once the connection can take more. It never blocks.
  virtual void start(std::function<void()> wake) = 0;
  // What is new, possibly nothing. Called only when the connection has taken all that came before, so
  // a reader who stalls is not asked for: what waits must be held, merged, by whoever makes it.
  virtual Piece poll() = 0;
  // Bytes that keep a silent stream alive, in the protocol's own manner.
  virtual std::string heartbeat() = 0;
  // The server ends: finish the response with the next poll()s, as an error if need be.
  virtual void shut_down() = 0;
};

using Reply = std::variant<Response, std::unique_ptr<Pending>>;

struct Handlers {
  // On the I/O thread, when the head is there and the body is not yet read: a response refuses the
  // request (or answers one that needs no body). Must be quick.
  std::function<std::optional<Response>(const RequestHead&)> gate;
  // On a worker thread, with the body. `cancel` stops when the client leaves, and after ServerOptions::prepare.
  std::function<Reply(Request, const Cancel& cancel)> handle;
  // A response for what goes wrong in HTTP itself (400, 408, 413, 431, 500, ...). The head may be empty.
  std::function<Response(int status, const std::string& message, const RequestHead&)> failure;
};

}  // namespace kapitsa::net
