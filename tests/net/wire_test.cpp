#include <gtest/gtest.h>

#include "net/response_writer.h"
#include "net/sse.h"

namespace kapitsa::net {
namespace {

TEST(ResponseWriter, AValueCannotBeginAHeader) {
  Response response;
  response.headers = {{"X-Name", "a\r\nSet-Cookie: b"}};
  const std::string head = write_head(response, Framing::kLength, 5, true);
  EXPECT_EQ(head.find("\r\nSet-Cookie"), std::string::npos);
  EXPECT_NE(head.find("Content-Length: 5\r\n"), std::string::npos);
}

TEST(ResponseWriter, FramesParts) {
  EXPECT_EQ(write_part("hello, you", Framing::kChunked), "a\r\nhello, you\r\n");
  EXPECT_EQ(write_part("", Framing::kChunked), "");
  EXPECT_EQ(write_part("hello", Framing::kClose), "hello");
  EXPECT_EQ(write_end(Framing::kChunked), "0\r\n\r\n");
}

TEST(ServerSentEvents, EveryLineOfDataIsMarked) {
  EXPECT_EQ(sse_event("ping", "{}"), "event: ping\ndata: {}\n\n");
  EXPECT_EQ(sse_event("", "a\nb"), "data: a\ndata: b\n\n");
}

}  // namespace
}  // namespace kapitsa::net
