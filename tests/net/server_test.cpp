// The server with handlers of its own: what it promises whoever makes a response.
#include "net/server.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace kapitsa::net {
namespace {

using boost::asio::ip::tcp;

// What a test's response knows about itself, beyond its life.
struct Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::function<void()> wake;
  std::string waiting;
  bool end = false;
  bool destroyed = false;
  int shut_downs = 0;
  bool throws = false;
  int counted = 0;  // by handlers at work: 1 begun, 2 ended

  void count() {
    std::lock_guard lock(mutex);
    ++counted;
    changed.notify_all();
  }
  void put(const std::string& text, bool last) {
    std::function<void()> call;
    {
      std::lock_guard lock(mutex);
      waiting += text;
      end = last;
      call = wake;
    }
    call();
  }
  template <class F>
  bool wait(F condition) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(20), condition);
  }
};

class TestPending : public Pending {
 public:
  explicit TestPending(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  ~TestPending() override {
    std::lock_guard lock(shared_->mutex);
    shared_->destroyed = true;
    shared_->changed.notify_all();
  }
  void start(std::function<void()> wake) override {
    std::lock_guard lock(shared_->mutex);
    shared_->wake = std::move(wake);
    shared_->changed.notify_all();
  }
  Piece poll() override {
    std::lock_guard lock(shared_->mutex);
    if (shared_->throws) throw std::runtime_error("thrown by the test");
    Piece piece;
    if (!begun_) piece.head = Response{200, "text/plain", {}, ""};
    begun_ = true;
    piece.bytes = std::move(shared_->waiting);
    shared_->waiting.clear();
    piece.end = shared_->end;
    return piece;
  }
  std::string heartbeat() override { return "beat"; }
  void shut_down() override {
    std::lock_guard lock(shared_->mutex);
    ++shared_->shut_downs;
    shared_->end = true;
  }

 private:
  std::shared_ptr<Shared> shared_;
  bool begun_ = false;
};

class ServerTest : public ::testing::Test {
 protected:
  void serve(ServerOptions options = {}) {
    options.port = 0;
    options.handle_signals = false;
    Handlers handlers;
    handlers.gate = [](const RequestHead& head) -> std::optional<Response> {
      if (head.path == "/gate-throws") throw std::runtime_error("thrown by the test");
      return std::nullopt;
    };
    handlers.handle = [this](const Request& request, const Cancel& cancel) -> Reply {
      if (request.head.path == "/work") {
        shared_->count();
        while (!cancel.stopped()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        shared_->count();
        return Response{400, "text/plain", {}, cancel.status("it").message()};
      }
      if (request.head.path == "/throw") throw std::runtime_error("thrown by the test");
      if (request.head.path == "/echo") return Response{200, "text/plain", {}, request.body};
      return std::make_unique<TestPending>(shared_);
    };
    handlers.failure = [](int status, const std::string& message, const RequestHead& head) {
      return Response{status, "text/plain", {}, message + " of " + head.path};
    };
    auto server = Server::bind(options, handlers);
    ASSERT_TRUE(server.ok()) << server.message();
    server_ = *std::move(server);
    thread_ = std::thread([this] { server_->run(); });
  }

  void TearDown() override {
    if (!thread_.joinable()) return;
    server_->stop();
    server_->stop();
    thread_.join();
  }

  tcp::socket connect() {
    tcp::socket socket(io_);
    socket.connect({boost::asio::ip::make_address("127.0.0.1"),
                    static_cast<unsigned short>(server_->port())});
    return socket;
  }

  static void send(tcp::socket& socket, std::string_view text) {
    boost::asio::write(socket, boost::asio::buffer(text));
  }

  // Reads until `mark` or the end.
  static std::string read_until(tcp::socket& socket, std::string_view mark) {
    std::string out;
    char bytes[4096];
    boost::system::error_code ec;
    while (out.find(mark) == std::string::npos) {
      const size_t n = socket.read_some(boost::asio::buffer(bytes), ec);
      if (ec) break;
      out.append(bytes, n);
    }
    return out;
  }

  bool started() {
    return shared_->wait([&] { return static_cast<bool>(shared_->wake); });
  }

  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::unique_ptr<Server> server_;
  std::thread thread_;
  boost::asio::io_context io_;
};

TEST_F(ServerTest, SendsPiecesAsTheyCome) {
  serve();
  auto socket = connect();
  send(socket, "GET /stream HTTP/1.1\r\n\r\n");
  EXPECT_NE(read_until(socket, "\r\n\r\n").find("200 OK"), std::string::npos);
  ASSERT_TRUE(started());
  shared_->put("first", false);
  EXPECT_EQ(read_until(socket, "first\r\n"), "5\r\nfirst\r\n");
  shared_->put("last", true);
  EXPECT_EQ(read_until(socket, "0\r\n\r\n"), "4\r\nlast\r\n0\r\n\r\n");
  send(socket, "POST /echo HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi");
  EXPECT_NE(read_until(socket, "hi").find("Content-Length: 2"), std::string::npos);
}

TEST_F(ServerTest, EndsTheWorkOfAClientWhoLeft) {
  serve();
  {
    auto socket = connect();
    send(socket, "GET /stream HTTP/1.1\r\n\r\n");
    ASSERT_TRUE(started());
  }
  EXPECT_TRUE(shared_->wait([&] { return shared_->destroyed; }));
  // A late wake of the engine's thread finds nobody and harms nothing.
  shared_->put("late", false);
}

TEST_F(ServerTest, EndsTheWorkOfAClientWhoLeftBehindAPipelinedRequest) {
  serve();
  {
    auto socket = connect();
    send(socket, "GET /stream HTTP/1.1\r\n\r\nGET /echo HTTP/1.1\r\n\r\n");
    ASSERT_TRUE(started());
  }
  EXPECT_TRUE(shared_->wait([&] { return shared_->destroyed; }));
}

TEST_F(ServerTest, FillsSilence) {
  ServerOptions options;
  options.heartbeat = std::chrono::milliseconds(20);
  serve(options);
  auto socket = connect();
  send(socket, "GET /stream HTTP/1.1\r\n\r\n");
  EXPECT_NE(read_until(socket, "beat\r\n4\r\nbeat").find("beat"), std::string::npos);
}

TEST_F(ServerTest, AHandlerThatThrowsIsA500) {
  serve();
  auto socket = connect();
  send(socket, "GET /throw HTTP/1.1\r\n\r\n");
  const std::string answer = read_until(socket, "log says more of /throw");
  EXPECT_NE(answer.find("HTTP/1.1 500"), std::string::npos);
  EXPECT_NE(answer.find("log says more of /throw"), std::string::npos) << answer;
  EXPECT_EQ(answer.find("thrown by the test"), std::string::npos);
}

TEST_F(ServerTest, AFaultOnTheIoThreadEndsItsConnectionOnly) {
  serve();
  shared_->throws = true;
  for (const char* path : {"/gate-throws", "/stream"}) {
    auto socket = connect();
    send(socket, fmt::format("GET {} HTTP/1.1\r\n\r\n", path));
    EXPECT_EQ(read_until(socket, "never"), "") << path;
  }
  auto socket = connect();
  send(socket, "POST /echo HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi");
  EXPECT_NE(read_until(socket, "hi").find("200 OK"), std::string::npos);
}

TEST_F(ServerTest, DrainingAsksRunningResponsesToEnd) {
  ServerOptions options;
  options.drain = std::chrono::milliseconds(20);
  serve(options);
  auto socket = connect();
  send(socket, "GET /stream HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(started());
  server_->stop();
  thread_.join();
  EXPECT_EQ(shared_->shut_downs, 1);
  EXPECT_NE(read_until(socket, "0\r\n\r\n").find("0\r\n\r\n"), std::string::npos);
}

TEST_F(ServerTest, EndsThePreparationOfAClientWhoLeft) {
  serve();
  {
    auto socket = connect();
    send(socket, "GET /work HTTP/1.1\r\n\r\n");
    ASSERT_TRUE(shared_->wait([&] { return shared_->counted == 1; }));
  }
  EXPECT_TRUE(shared_->wait([&] { return shared_->counted == 2; }));
}

TEST_F(ServerTest, EndsAPreparationThatTakesTooLong) {
  ServerOptions options;
  options.prepare = std::chrono::milliseconds(20);
  options.workers = 1;
  serve(options);
  auto first = connect();
  send(first, "GET /work HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(shared_->wait([&] { return shared_->counted == 1; }));
  auto second = connect();
  send(second, "GET /echo HTTP/1.1\r\n\r\n");
  EXPECT_NE(read_until(first, "that it may").find("0.02 s"), std::string::npos);
  // The second one waited behind it for longer than it may, or just not.
  EXPECT_NE(read_until(second, "\r\n\r\n").find("HTTP/1.1 "), std::string::npos);
}

TEST_F(ServerTest, ASecondSignalDoesNotWaitForWorkers) {
  serve();
  auto socket = connect();
  send(socket, "GET /work HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(shared_->wait([&] { return shared_->counted == 1; }));
  server_->stop();
  server_->stop();
  thread_.join();
}

TEST_F(ServerTest, DrainingDoesNotWaitForRequestsThatNeverBegan) {
  serve();
  auto silent = connect(), half = connect();
  send(half, "GET /st");
  auto known = connect();  // by its answer the server has the others, too
  send(known, "POST /echo HTTP/1.1\r\nContent-Length: 1\r\n\r\na");
  EXPECT_NE(read_until(known, "\r\n\r\na").find("200"), std::string::npos);
  server_->stop();
  thread_.join();
}

TEST_F(ServerTest, IdleConnectionsMakeRoom) {
  ServerOptions options;
  options.max_connections = 2;
  options.speak = std::chrono::milliseconds(10);
  serve(options);
  auto first = connect(), second = connect(), third = connect();
  send(third, "POST /echo HTTP/1.1\r\nContent-Length: 1\r\n\r\na");
  EXPECT_NE(read_until(third, "\r\n\r\na").find("200"), std::string::npos);
  EXPECT_EQ(read_until(first, "never"), "");
}

TEST_F(ServerTest, SaysThatAPortIsTaken) {
  serve();
  ServerOptions options;
  options.port = server_->port();
  const auto second = Server::bind(options, {});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), Code::kUnavailable);
  EXPECT_NE(second.message().find("--port"), std::string::npos);
}

TEST_F(ServerTest, WaitsForConnectionsToEndPastItsLimit) {
  ServerOptions options;
  options.max_connections = 1;
  serve(options);
  auto second = std::make_unique<tcp::socket>(io_);
  {
    auto first = connect();
    send(first, "POST /echo HTTP/1.1\r\nContent-Length: 1\r\n\r\na");
    EXPECT_NE(read_until(first, "\r\n\r\na").find("200"), std::string::npos);
    *second = connect();
    send(*second, "POST /echo HTTP/1.1\r\nContent-Length: 1\r\n\r\nb");
  }
  EXPECT_NE(read_until(*second, "\r\n\r\nb").find("200"), std::string::npos);
}

}  // namespace
}  // namespace kapitsa::net
