#include "app/serve.h"

#include <gtest/gtest.h>

#include "app/server.h"
#include "net/server.h"

namespace kapitsa::app {
namespace {

class ServeCommand : public ::testing::Test {
 protected:
  // Runs `kapitsa serve` with `arguments` and a loader that says what it was asked and fails.
  int serve(const std::string& arguments) {
    CLI::App root;
    std::function<int()> run;
    add_serve(root, run, [this](const ServeModel& model) -> Result<std::unique_ptr<engine::Engine>> {
      asked_ = model;
      return error(Code::kNotFound, "model '{}' is not here", model.model);
    });
    root.parse("serve " + arguments);
    ::testing::internal::CaptureStderr();
    const int code = run();
    said_ = ::testing::internal::GetCapturedStderr();
    return code;
  }

  std::optional<ServeModel> asked_;
  std::string said_;
};

TEST_F(ServeCommand, LoadsWhatItWasAsked) {
  EXPECT_EQ(serve("--port 0 --model m.gguf --ctx 4096 --threads 3"), 1);
  ASSERT_TRUE(asked_);
  EXPECT_EQ(asked_->model, "m.gguf");
  EXPECT_EQ(asked_->context, 4096);
  EXPECT_EQ(asked_->threads, 3);
  EXPECT_EQ(said_, "kapitsa: model 'm.gguf' is not here\n");
}

TEST_F(ServeCommand, OtherMachinesNeedAKeyOrInsistence) {
  EXPECT_EQ(serve("m --port 0 --host 0.0.0.0"), 2);
  EXPECT_FALSE(asked_);
  EXPECT_NE(said_.find("--api-key"), std::string::npos);
  EXPECT_NE(said_.find("--insecure-public"), std::string::npos);
  ServeOptions options;
  options.net.host = "0.0.0.0";
  options.api_key = "k";
  EXPECT_TRUE(check(options).ok());
  options.api_key.clear();
  options.insecure_public = true;
  EXPECT_TRUE(check(options).ok());
}

TEST_F(ServeCommand, ATakenPortIsSaidBeforeAModelIsLoaded) {
  net::ServerOptions options;
  options.port = 0;
  const auto taken = net::Server::bind(options, {});
  ASSERT_TRUE(taken.ok());
  EXPECT_EQ(serve(fmt::format("m --port {}", taken.value()->port())), 1);
  EXPECT_FALSE(asked_);
  EXPECT_NE(said_.find("is in use"), std::string::npos);
}

TEST_F(ServeCommand, WrongUseIsRefusedByTheParser) {
  EXPECT_THROW(serve(""), CLI::ParseError);
  EXPECT_THROW(serve("m --port 70000"), CLI::ParseError);
  EXPECT_THROW(serve("m --port http"), CLI::ParseError);
}

TEST(ServeUrl, PutsBracketsAroundIpv6) {
  EXPECT_EQ(url_of("::1", 8080), "http://[::1]:8080");
  EXPECT_EQ(url_of("127.0.0.1", 1), "http://127.0.0.1:1");
}

}  // namespace
}  // namespace kapitsa::app
