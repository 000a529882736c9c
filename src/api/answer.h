// One request that the engine works on, and the protocol that writes what comes back.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "api/errors.h"
#include "base/json.h"
#include "engine/request.h"

namespace kapitsa::api {

// One server-sent event: a name (may be empty) and its data.
struct Message {
  std::string event;
  std::string data;
};
using Messages = std::vector<Message>;

class Answer {
 public:
  virtual ~Answer() = default;

  // To be submitted to the engine, one stream each; their place is the index of on_event().
  std::vector<engine::Request> requests;
  bool streaming = false;

  // Streaming: what is sent before anything was computed.
  virtual Messages begin() = 0;
  // Takes the next event of stream `index`; returns what it adds to the stream (nothing for a whole
  // response). A failed event is not given here.
  virtual Messages on_event(size_t index, const engine::Event& event) = 0;
  // Streaming: what is sent when all streams have ended.
  virtual Messages end() = 0;
  // Whole: the response, when all streams have ended.
  virtual Json whole() = 0;
  // Streaming: an error after the stream has begun. Nothing follows it.
  virtual Messages failure(const Error& error) = 0;
  // Streaming: what shows a client that the silent stream is alive.
  virtual Message heartbeat() = 0;
};

// What an endpoint makes of a request body.
using Outcome = std::variant<std::unique_ptr<Answer>, Json, Error>;

// The JSON text of `value`; bytes that are not UTF-8 become U+FFFD.
std::string to_text(const Json& value);

}  // namespace kapitsa::api
