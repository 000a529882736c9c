#include "net/request_reader.h"

#include <gtest/gtest.h>

namespace kapitsa::net {
namespace {

using State = RequestReader::State;

// Advances past the head, as a session whose gate lets all pass does.
State advance(RequestReader& reader) {
  State state = reader.advance();
  if (state == State::kHead) state = reader.advance();
  return state;
}

TEST(RequestReader, ReadsARequestCutAnywhere) {
  const std::string text =
      "POST /v1/m%6Fdels/a%2Fb?x=1 HTTP/1.1\r\nHost: h\r\nX-Key: v\r\nContent-Length: 4\r\n\r\nbody";
  for (size_t cut = 1; cut < text.size(); ++cut) {
    RequestReader reader({});
    reader.add(text.substr(0, cut));
    ASSERT_EQ(advance(reader), State::kNeedMore) << cut;
    reader.add(text.substr(cut));
    ASSERT_EQ(advance(reader), State::kDone) << cut;
    const Request request = reader.take();
    EXPECT_EQ(request.head.method, "POST");
    EXPECT_EQ(request.head.path, "/v1/models/a/b");
    EXPECT_EQ(request.head.query, "x=1");
    EXPECT_EQ(request.head.header("x-key"), "v");
    EXPECT_EQ(request.body, "body");
    EXPECT_TRUE(reader.empty());
  }
}

// Fed as a session does it: advanced with each part.
int status_of(const std::string& start, const std::string& part, size_t most) {
  RequestReader reader({.head = 1000, .body = 1000});
  reader.add(start);
  State state = advance(reader);
  for (size_t fed = 0; fed < most && state == State::kNeedMore; fed += part.size()) {
    reader.add(part);
    state = advance(reader);
  }
  return state == State::kFailed ? reader.error_status() : 0;
}

TEST(RequestReader, WhatWrapsChunksHasALimit) {
  const std::string head = "POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(status_of(head + "1;", std::string(100, 'x'), 100000), 400);
  EXPECT_EQ(status_of(head + "2\r\n{}\r\n0\r\n", "X: " + std::string(95, 'y') + "\r\n", 100000), 400);
  EXPECT_EQ(status_of(head, "1;" + std::string(90, 'x') + "\r\na\r\n", 100000), 413);
}

TEST(RequestReader, WhatIsPipelinedBehindABodyIsNoTrailer) {
  RequestReader reader({.head = 1000, .body = 10000});
  const std::string next = "POST /b HTTP/1.1\r\nContent-Length: 5000\r\n\r\n" + std::string(5000, 'y');
  reader.add("POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nxxx" + next);
  ASSERT_EQ(advance(reader), State::kDone);
  EXPECT_EQ(reader.take().body, "xxx");
  ASSERT_EQ(advance(reader), State::kDone);
  EXPECT_EQ(reader.take().body, std::string(5000, 'y'));
}

TEST(RequestReader, KeepsThePipelinedNextRequest) {
  RequestReader reader({});
  reader.add("GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\nGET /c");
  ASSERT_EQ(advance(reader), State::kDone);
  EXPECT_EQ(reader.take().head.path, "/a");
  EXPECT_FALSE(reader.empty());
  ASSERT_EQ(advance(reader), State::kDone);
  EXPECT_EQ(reader.take().head.path, "/b");
  EXPECT_EQ(advance(reader), State::kNeedMore);
}

TEST(RequestReader, ShowsTheHeadBeforeTheBody) {
  RequestReader reader({});
  reader.add("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  ASSERT_EQ(reader.advance(), State::kHead);
  EXPECT_TRUE(reader.head().has_body);
  EXPECT_TRUE(reader.in_body());
  EXPECT_EQ(reader.advance(), State::kNeedMore);
}

TEST(RequestReader, RefusesWhatIsTooLargeOrNotHttp) {
  const auto status_of = [](const std::string& text) {
    RequestReader reader({1000, 100});
    reader.add(text);
    EXPECT_EQ(advance(reader), State::kFailed) << text.substr(0, 60);
    EXPECT_FALSE(reader.error_text().empty());
    return reader.error_status();
  };
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nA: " + std::string(2000, 'a')), 431);
  EXPECT_EQ(status_of("POST /v1/messages HTTP/1.1\r\nContent-Length: 101\r\n\r\n"), 413);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n80\r\n" +
                      std::string(128, 'x')),
            413);
  EXPECT_EQ(status_of("GET / HTTP/2.0\r\n\r\n"), 505);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n"), 501);
  EXPECT_EQ(status_of("\x16\x03\x01 a TLS hello"), 400);
}

TEST(RequestReader, KnowsThePathOfARefusedBody) {
  RequestReader reader({1000, 100});
  reader.add("POST /v1/messages HTTP/1.1\r\nContent-Length: 101\r\n\r\n");
  ASSERT_EQ(advance(reader), State::kFailed);
  EXPECT_EQ(reader.head().path, "/v1/messages");
}

}  // namespace
}  // namespace kapitsa::net
