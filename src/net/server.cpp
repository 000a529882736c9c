#include "net/server.h"

#include <spdlog/spdlog.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <csignal>
#include <unordered_map>
#include <vector>

#include "net/session.h"

namespace kapitsa::net {

using boost::asio::ip::tcp;
using boost::system::error_code;

struct Server::Impl {
  Impl(ServerOptions options_in, Handlers handlers_in)
      : options(std::move(options_in)),
        handlers(std::move(handlers_in)),
        workers(static_cast<size_t>(options.workers)) {}

  Status bind();
  void accept();
  void on_accept(error_code ec, tcp::socket socket);
  void on_closed(Session* session);
  void wait_for_signal();
  void stop();
  void drain();
  void accept_later();
  void close_idlest();
  void close_all();
  void run_io();
  template <class F>
  void for_each_session(F&& f);

  ServerOptions options;
  Handlers handlers;
  boost::asio::io_context io{1};
  Workers workers;
  tcp::acceptor acceptor{io};
  boost::asio::signal_set signals{io};
  boost::asio::steady_timer retry{io};
  boost::asio::steady_timer limit{io};
  std::unordered_map<Session*, std::weak_ptr<Session>> sessions;
  bool accepting = false;
  bool draining = false;
};

Status Server::Impl::bind() {
  error_code ec;
  tcp::resolver resolver(io);
  const auto found = resolver.resolve(options.host, std::to_string(options.port),
                                      tcp::resolver::passive | tcp::resolver::numeric_service, ec);
  if (ec || found.empty()) {
    return error(Code::kInvalid, "--host {}: this is no address, and no name that is known here ({})",
                 options.host, ec.message());
  }
  const tcp::endpoint endpoint = found.begin()->endpoint();
  acceptor.open(endpoint.protocol(), ec);
  if (!ec) acceptor.set_option(tcp::acceptor::reuse_address(true), ec);
  if (!ec) acceptor.bind(endpoint, ec);
  if (!ec) acceptor.listen(boost::asio::socket_base::max_listen_connections, ec);
  if (ec == boost::asio::error::address_in_use) {
    return error(Code::kUnavailable,
                 "port {} of {} is in use by another program: end that one, or choose another port "
                 "with --port",
                 options.port, options.host);
  }
  if (ec) {
    return error(Code::kInvalid, "cannot listen on {} port {}: {}", options.host, options.port,
                 ec.message());
  }
  return {};
}

void Server::Impl::accept() {
  if (accepting || draining) return;
  const auto full = [this] { return sessions.size() >= static_cast<size_t>(options.max_connections); };
  if (full()) close_idlest();  // accepts by itself behind the one that it closes
  if (accepting) return;
  if (full()) return accept_later();
  accepting = true;
  acceptor.async_accept([this](error_code ec, tcp::socket socket) {
    accepting = false;
    on_accept(ec, std::move(socket));
  });
}

void Server::Impl::on_accept(error_code ec, tcp::socket socket) {
  if (draining) return;
  if (ec) {
    // Out of file descriptors, most likely: connections that end will free some.
    spdlog::warn("cannot accept a connection: {}", ec.message());
    return accept_later();
  }
  const auto session =
      std::make_shared<Session>(std::move(socket), options, handlers, workers,
                                [this](Session* closed) { on_closed(closed); });
  sessions.emplace(session.get(), session);
  session->start();
  accept();
}

void Server::Impl::on_closed(Session* session) {
  sessions.erase(session);
  if (draining && sessions.empty()) {
    limit.cancel();
    signals.cancel();
  }
  accept();
}

template <class F>
void Server::Impl::for_each_session(F&& f) {
  // A copy: sessions leave the map as they close.
  std::vector<std::shared_ptr<Session>> all;
  for (const auto& [key, weak] : sessions) {
    if (auto session = weak.lock()) all.push_back(std::move(session));
  }
  for (const auto& session : all) f(*session);
}

void Server::Impl::accept_later() {
  retry.expires_after(std::chrono::milliseconds(100));
  retry.async_wait([this](error_code ec) {
    if (!ec) accept();
  });
}

// Connections that ask for nothing shall not keep out those that do. A new one gets a moment to speak.
void Server::Impl::close_idlest() {
  std::shared_ptr<Session> idlest;
  auto longest = Session::Clock::now() - options.speak;
  for_each_session([&](Session& session) {
    if (const auto since = session.idle_since(); since && *since < longest) {
      longest = *since;
      idlest = session.shared_from_this();
    }
  });
  if (idlest) idlest->close();
}

void Server::Impl::wait_for_signal() {
  signals.async_wait([this](error_code ec, int) {
    if (ec) return;
    wait_for_signal();  // first: stop() may find that nothing is left to wait for
    stop();
  });
}

void Server::Impl::stop() {
  if (draining) return close_all();
  drain();
}

void Server::Impl::drain() {
  draining = true;
  error_code ignored;
  acceptor.close(ignored);
  retry.cancel();
  for_each_session([](Session& session) { session.drain(); });
  if (sessions.empty()) {
    signals.cancel();
    return;
  }
  spdlog::info("finishing {} running request(s); a second signal ends at once", sessions.size());
  limit.expires_after(options.drain);
  limit.async_wait([this](error_code ec) {
    if (ec) return;
    for_each_session([](Session& session) { session.shut_down(); });
    limit.expires_after(std::chrono::seconds(1));
    limit.async_wait([this](error_code ec2) {
      if (!ec2) close_all();
    });
  });
}

void Server::Impl::close_all() {
  for_each_session([](Session& session) { session.close(); });
  limit.cancel();
  signals.cancel();
}

// A session keeps its own faults to itself; what else throws (no memory for a new connection) must not
// end the process either.
void Server::Impl::run_io() {
  for (;;) {
    try {
      io.run();
      return;
    } catch (const std::exception& e) {
      spdlog::error("a fault inside the server: {}", e.what());
      accept();
    }
  }
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() {
  impl_->workers.join();
}

Result<std::unique_ptr<Server>> Server::bind(ServerOptions options, Handlers handlers) {
  auto impl = std::make_unique<Impl>(std::move(options), std::move(handlers));
  KAPITSA_RETURN_IF_ERROR(impl->bind());
  // From here on, not from run(): whoever is told the port may send a signal at once, and it must not be lost.
  std::signal(SIGPIPE, SIG_IGN);
  if (impl->options.handle_signals) {
    impl->signals.add(SIGINT);
    impl->signals.add(SIGTERM);
    impl->wait_for_signal();
  }
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

int Server::port() const {
  error_code ignored;
  return impl_->acceptor.local_endpoint(ignored).port();
}

void Server::run() {
  impl_->accept();
  impl_->run_io();
  // A handler may still be at work for a client that is gone; its reply is thrown away.
  impl_->workers.join();
  impl_->io.restart();
  impl_->run_io();
}

void Server::stop() {
  boost::asio::post(impl_->io, [impl = impl_.get()] { impl->stop(); });
}

}  // namespace kapitsa::net
