#include "net/session.h"

#include <spdlog/spdlog.h>

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

namespace kapitsa::net {
namespace {

using boost::system::error_code;

// A client may send its next request early. Past this much of it the watch for a client that leaves
// pauses until the response is out: memory is worth more than a pipeline.
constexpr size_t kPipelined = size_t{1} << 20;
// What a refused client may still send before its connection is cut.
constexpr size_t kLingerBytes = size_t{256} << 20;
constexpr const char* kBusy = "the server is busy reading other requests; try again later";
constexpr const char* kInternalError = "an internal error; the server's log says more";

}  // namespace

Session::Session(boost::asio::ip::tcp::socket socket, const ServerOptions& options,
                 const Handlers& handlers, Workers& workers,
                 std::function<void(Session*)> closed)
    : socket_(std::move(socket)),
      options_(options),
      handlers_(handlers),
      workers_(workers),
      closed_(std::move(closed)),
      reader_(options.limits),
      read_deadline_(socket_.get_executor()),
      write_deadline_(socket_.get_executor()),
      heartbeat_(socket_.get_executor()) {}

template <class F>
void Session::guarded(F&& work) {
  try {
    work();
  } catch (const std::exception& e) {
    spdlog::error("a connection is closed by a fault inside the server: {}", e.what());
    close();
  } catch (...) {
    spdlog::error("a connection is closed by a fault inside the server");
    close();
  }
}

void Session::start() {
  guarded([this] {
    error_code ignored;
    socket_.set_option(boost::asio::ip::tcp::no_delay(true), ignored);
    request_began_ = Clock::now();
    arm_read_deadline();
    read();
  });
}

void Session::close() {
  if (phase_ == Phase::kClosed) return;
  phase_ = Phase::kClosed;
  cancel_.stop();
  pending_.reset();
  read_deadline_.cancel();
  write_deadline_.cancel();
  heartbeat_.cancel();
  error_code ignored;
  socket_.shutdown(boost::asio::ip::tcp::socket::shutdown_both, ignored);
  socket_.close(ignored);
  closed_(this);
}

void Session::drain() {
  draining_ = true;
  // A body that is on its way may still arrive; a head that is not whole is no request yet.
  if (phase_ == Phase::kReading && !reader_.in_body() && !writing_) return close();
  if (phase_ == Phase::kReading) arm_read_deadline();
}

std::optional<Session::Clock::time_point> Session::idle_since() const {
  if (phase_ != Phase::kReading || reader_.in_body() || writing_) return std::nullopt;
  return request_began_;
}

void Session::shut_down() {
  if (phase_ == Phase::kAnswering && pending_) {
    guarded([this] {
      pending_->shut_down();
      poll();
    });
  } else if (phase_ != Phase::kAnswering || !writing_) {
    close();
  }
}

// A read is always under way, also while a response is made: that is how a client that leaves is
// noticed at once, with no bytes written to it.
void Session::read() {
  if (read_pending_ || phase_ == Phase::kClosed) return;
  if (phase_ == Phase::kAnswering && reader_.buffered() > kPipelined) return;
  read_pending_ = true;
  socket_.async_read_some(boost::asio::buffer(chunk_),
                          [self = shared_from_this()](error_code ec, size_t n) {
                            self->read_pending_ = false;
                            if (self->phase_ == Phase::kClosed) return;
                            if (ec) return self->close();
                            self->guarded([&] {
                              self->on_bytes({self->chunk_.data(), n});
                              self->read();
                            });
                          });
}

void Session::on_bytes(std::string_view bytes) {
  if (phase_ == Phase::kLingering) {
    lingered_ += bytes.size();
    if (lingered_ > kLingerBytes) close();
    return;
  }
  if (phase_ == Phase::kReading && reader_.empty()) request_began_ = Clock::now();
  reader_.add(bytes);
  if (phase_ == Phase::kReading) advance();
}

void Session::advance() {
  while (phase_ == Phase::kReading) {
    switch (reader_.advance()) {
      case RequestReader::State::kNeedMore:
        return arm_read_deadline();
      case RequestReader::State::kHead:
        if (!judge_head()) return;
        break;
      case RequestReader::State::kDone:
        return dispatch(reader_.take());
      case RequestReader::State::kFailed:
        return fail(reader_.error_status(), reader_.error_text());
    }
  }
}

// Lets the gate refuse or answer a request by its head. False: it did.
bool Session::judge_head() {
  const RequestHead& head = reader_.head();
  if (std::optional<Response> answer = handlers_.gate(head)) {
    const bool whole = !head.has_body;
    head_ = head;
    // Without a body the request ends here; with one, its bytes are not worth reading.
    if (whole && reader_.advance() == RequestReader::State::kDone) (void)reader_.take();
    linger_after_ = !whole;
    respond(*answer, whole);
    return false;
  }
  if (head.has_body && same_name(head.header("Expect"), "100-continue")) {
    send("HTTP/1.1 100 Continue\r\n\r\n");
  }
  return true;
}

void Session::arm_read_deadline() {
  const auto now = Clock::now();
  Clock::time_point deadline;
  if (phase_ == Phase::kLingering) {
    deadline = now + options_.linger;
  } else if (reader_.empty()) {
    deadline = now + options_.idle;
  } else if (!reader_.in_body()) {
    deadline = request_began_ + options_.head;
  } else {
    deadline = std::min(now + (draining_ ? options_.drain_body : options_.body_stall), request_began_ + options_.body);
  }
  read_deadline_.expires_at(deadline);
  read_deadline_.async_wait([weak = weak_from_this()](error_code ec) {
    if (const auto self = weak.lock(); self && !ec) {
      self->guarded([&] { self->on_read_deadline(); });
    }
  });
}

void Session::on_read_deadline() {
  if (read_deadline_.expiry() > Clock::now()) return;  // moved on while this call was queued
  if (phase_ == Phase::kLingering || (phase_ == Phase::kReading && reader_.empty())) return close();
  if (phase_ == Phase::kReading) fail(408, "the request did not arrive in time");
}

void Session::dispatch(Request request) {
  phase_ = Phase::kAnswering;
  read_deadline_.cancel();
  head_ = request.head;
  cancel_ = Cancel::within(options_.queue);
  boost::asio::thread_pool& pool = request.body.size() <= options_.small ? workers_.small : workers_.large;
  auto work = [self = shared_from_this(), request = std::move(request), cancel = cancel_]() mutable {
    // Boxed: a queued function must be copyable.
    auto reply = std::make_shared<std::optional<Reply>>();
    const bool in_time = !cancel.stopped();
    try {
      if (in_time) *reply = self->handlers_.handle(std::move(request), cancel.limited(self->options_.prepare));
    } catch (const std::exception& e) {
      spdlog::error("a request failed inside the server: {}", e.what());
    } catch (...) {
      spdlog::error("a request failed inside the server");
    }
    auto executor = self->socket_.get_executor();
    boost::asio::post(executor, [self = std::move(self), reply, in_time] {
      if (self->phase_ == Phase::kClosed) return;
      self->guarded([&] {
        // Here, where the request's head is: an error has its protocol's shape.
        if (!*reply) {
          *reply = in_time ? self->handlers_.failure(500, kInternalError, self->head_)
                           : self->handlers_.failure(503, kBusy, self->head_);
        }
        self->on_reply(std::move(**reply));
      });
    });
  };
  boost::asio::post(pool, std::move(work));
}

void Session::on_reply(Reply reply) {
  if (const auto* response = std::get_if<Response>(&reply)) return respond(*response, true);
  pending_ = std::move(std::get<std::unique_ptr<Pending>>(reply));
  // The wake flag keeps a burst of tokens from queueing a call each.
  pending_->start([weak = weak_from_this(), executor = socket_.get_executor(),
                   queued = wake_queued_] {
    if (queued->exchange(true)) return;
    boost::asio::post(executor, [weak, queued] {
      queued->store(false);
      if (const auto self = weak.lock()) self->guarded([&] { self->on_wake(); });
    });
  });
  poll();
}

void Session::on_wake() {
  if (phase_ == Phase::kAnswering) poll();
}

void Session::poll() {
  if (!pending_ || writing_ || ended_) return;
  Piece piece = pending_->poll();
  if (piece.head && piece.end) {
    pending_.reset();
    piece.head->body += piece.bytes;
    return respond(*piece.head, true);
  }
  std::string out;
  if (piece.head) {
    framing_ = head_.http_1_0 ? Framing::kClose : Framing::kChunked;
    keep_alive_ = head_.keep_alive && !head_.http_1_0 && !draining_;
    out = write_head(*piece.head, framing_, 0, keep_alive_) + write_part(piece.head->body, framing_);
  }
  out += write_part(piece.bytes, framing_);
  if (piece.end) {
    out += write_end(framing_);
    ended_ = true;
    pending_.reset();
  }
  if (!out.empty()) send(out);
  if (piece.head && !piece.end) arm_heartbeat();
  if (ended_ && !writing_) finish();
}

void Session::respond(const Response& response, bool may_keep_alive) {
  phase_ = Phase::kAnswering;
  read_deadline_.cancel();
  ended_ = true;
  keep_alive_ = may_keep_alive && head_.keep_alive && !draining_;
  std::string out = write_head(response, Framing::kLength, response.body.size(), keep_alive_);
  if (head_.method != "HEAD") out += response.body;
  send(out);
}

void Session::fail(int status, const std::string& message) {
  head_ = reader_.head();
  linger_after_ = true;
  respond(handlers_.failure(status, message, head_), false);
}

// The response is out: the connection takes its next request, or closes.
void Session::finish() {
  ended_ = false;
  heartbeat_.cancel();
  if (linger_after_) return linger();
  if (!keep_alive_ || draining_) return linger();
  phase_ = Phase::kReading;
  head_ = {};
  request_began_ = Clock::now();
  arm_read_deadline();
  advance();
  read();
}

// Closing with unread bytes would reset the connection and may destroy the response on its way: first
// our side ends, then what the client still sends is thrown away for a while.
void Session::linger() {
  phase_ = Phase::kLingering;
  error_code ignored;
  socket_.shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
  arm_read_deadline();
  read();
}

void Session::send(std::string_view bytes) {
  out_ += bytes;
  if (!writing_) flush();
}

void Session::flush() {
  writing_ = true;
  flight_.clear();
  flight_.swap(out_);
  write_deadline_.expires_after(options_.write_stall);
  write_deadline_.async_wait([weak = weak_from_this()](error_code ec) {
    const auto self = weak.lock();
    if (self && !ec && self->write_deadline_.expiry() <= Clock::now()) self->close();
  });
  boost::asio::async_write(socket_, boost::asio::buffer(flight_),
                           [self = shared_from_this()](error_code ec, size_t) {
                             self->writing_ = false;
                             if (self->phase_ == Phase::kClosed) return;
                             if (ec) return self->close();
                             self->guarded([&] { self->on_written(); });
                           });
}

void Session::on_written() {
  last_sent_ = Clock::now();
  write_deadline_.cancel();
  if (!out_.empty()) return flush();
  if (ended_) return finish();
  if (phase_ == Phase::kAnswering) poll();
}

void Session::arm_heartbeat() {
  last_sent_ = Clock::now();
  heartbeat_.expires_after(options_.heartbeat);
  heartbeat_.async_wait([weak = weak_from_this()](error_code ec) {
    const auto self = weak.lock();
    if (ec || !self || !self->pending_) return;
    self->guarded([&] {
      const auto due = self->last_sent_ + self->options_.heartbeat;
      if (!self->writing_ && Clock::now() >= due) {
        self->send(write_part(self->pending_->heartbeat(), self->framing_));
      }
      self->arm_heartbeat();
    });
  });
}

}  // namespace kapitsa::net
