// A response that the engine is working on: engine events in, bytes of its protocol out.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/answer.h"
#include "engine/engine.h"
#include "net/handler.h"

namespace kapitsa::app {

// Makes an error response, with the headers that every response of its request has.
using Fail = std::function<net::Response(const api::Error&)>;

class Generation : public net::Pending {
 public:
  // `answer.requests[i]` was submitted as `streams[i]`. `headers` go with the response.
  Generation(std::unique_ptr<api::Answer> answer,
             std::vector<std::unique_ptr<engine::Stream>> streams, net::Headers headers, Fail fail);

  void start(std::function<void()> wake) override;
  net::Piece poll() override;
  std::string heartbeat() override;
  void shut_down() override;

 private:
  void take(size_t index, net::Piece& piece);
  void fail_with(const api::Error& error, net::Piece& piece);
  bool all_ended() const;

  std::unique_ptr<api::Answer> answer_;
  std::vector<std::unique_ptr<engine::Stream>> streams_;  // null: ended
  net::Headers headers_;
  Fail fail_;
  bool begun_ = false;
};

}  // namespace kapitsa::app
