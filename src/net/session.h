// One connection: reads requests one after another, answers each, notices when the client leaves.
#pragma once

#include <array>
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "net/handler.h"
#include "net/options.h"
#include "net/request_reader.h"
#include "net/response_writer.h"

namespace kapitsa::net {

// The threads that handlers run on.
struct Workers {
  explicit Workers(size_t large_threads) : large(large_threads) {}
  void join() {
    small.join();
    large.join();
  }
  boost::asio::thread_pool small{1}, large;
};

// All of it runs on the I/O thread, except the handler, which runs on a worker.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(boost::asio::ip::tcp::socket socket, const ServerOptions& options,
          const Handlers& handlers, Workers& workers,
          std::function<void(Session*)> closed);

  using Clock = std::chrono::steady_clock;

  void start();
  // The server ends: an idle connection closes, a busy one closes behind its response.
  void drain();
  // Since when it has waited for the head of a request; nullopt while one is read or answered.
  std::optional<Clock::time_point> idle_since() const;
  // Asks the response that is being made to end now, as an error.
  void shut_down();
  void close();

 private:
  // Runs `work`; what it throws (a handler's fault, memory that ran out) ends this connection only.
  template <class F>
  void guarded(F&& work);

  enum class Phase { kReading, kAnswering, kLingering, kClosed };

  // Reading.
  void read();
  void on_bytes(std::string_view bytes);
  void advance();
  bool judge_head();
  void arm_read_deadline();
  void on_read_deadline();

  // Answering.
  void dispatch(Request request);
  void on_reply(Reply reply);
  void on_wake();
  void poll();
  void respond(const Response& response, bool may_keep_alive);
  void fail(int status, const std::string& message);
  void finish();
  void linger();

  // Writing.
  void send(std::string_view bytes);
  void flush();
  void on_written();
  void arm_heartbeat();

  boost::asio::ip::tcp::socket socket_;
  const ServerOptions& options_;
  const Handlers& handlers_;
  Workers& workers_;
  std::function<void(Session*)> closed_;

  Phase phase_ = Phase::kReading;
  RequestReader reader_;
  std::array<char, 16 * 1024> chunk_;
  bool read_pending_ = false;
  boost::asio::steady_timer read_deadline_;
  Clock::time_point request_began_;
  size_t lingered_ = 0;

  RequestHead head_;  // of the request that is being answered
  Cancel cancel_;     // of its preparation on a worker
  std::unique_ptr<Pending> pending_;
  std::shared_ptr<std::atomic<bool>> wake_queued_ = std::make_shared<std::atomic<bool>>(false);
  bool ended_ = false;  // the whole response has been handed to send()
  bool keep_alive_ = true;
  bool linger_after_ = false;
  bool draining_ = false;
  Framing framing_ = Framing::kLength;

  std::string out_;     // waits for the write in flight
  std::string flight_;  // being written
  bool writing_ = false;
  boost::asio::steady_timer write_deadline_;
  boost::asio::steady_timer heartbeat_;
  Clock::time_point last_sent_;
};

}  // namespace kapitsa::net
