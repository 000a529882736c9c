#include "api/errors.h"

#include <gtest/gtest.h>

namespace kapitsa::api {
namespace {

TEST(Errors, HaveEachProtocolsShape) {
  const Error error{400, "wrong", "n", "", std::nullopt};
  EXPECT_EQ(error_body(Protocol::kOpenAi, error, "req_1").dump(),
            R"({"error":{"message":"wrong","type":"invalid_request_error","param":"n","code":null}})");
  EXPECT_EQ(error_body(Protocol::kAnthropic, error, "req_1").dump(),
            R"({"type":"error","error":{"type":"invalid_request_error","message":"wrong"},)"
            R"("request_id":"req_1"})");
}

TEST(Errors, OverflowCarriesBothNumbersInWordsThatClientsKnow) {
  EXPECT_EQ(too_long(Protocol::kAnthropic, 70000, 65536).message,
            "prompt is too long: 70000 tokens > 65536 maximum");
  const Error openai = too_long(Protocol::kOpenAi, 70000, 65536);
  EXPECT_NE(openai.message.find("maximum context length is 65536 tokens"), std::string::npos);
  EXPECT_EQ(openai.code, "context_length_exceeded");
}

TEST(Errors, AFullQueueSaysWhenToComeBack) {
  const Error error = from_status(Status(Code::kUnavailable, "the queue is full"));
  EXPECT_EQ(error.status, 503);
  EXPECT_TRUE(error.retry_after.has_value());
  EXPECT_EQ(http_status(Protocol::kAnthropic, error), 529);
}

TEST(Errors, ThePathTellsTheProtocol) {
  EXPECT_EQ(protocol_of("/v1/messages/count_tokens", false), Protocol::kAnthropic);
  EXPECT_EQ(protocol_of("/v1/chat/completions", true), Protocol::kOpenAi);
  EXPECT_EQ(protocol_of("/v1/models/x", true), Protocol::kAnthropic);
  EXPECT_EQ(protocol_of("/v1/models", false), Protocol::kOpenAi);
}

}  // namespace
}  // namespace kapitsa::api
