#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "app/routes.h"
#include "net/request_reader.h"
#include "tests/support/scripted_engine.h"

// Any bytes on a connection give requests that are answered, or an error with a status. The first byte
// says how the rest is cut.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using kapitsa::net::RequestReader;
  // No streams: what is fuzzed is the way to the engine, not its threads.
  static kapitsa::test::ScriptedEngine engine([] {
    kapitsa::test::Script refused;
    refused.refusal = kapitsa::Status(kapitsa::Code::kUnavailable, "the queue is full");
    return std::vector{refused};
  }());
  static const kapitsa::api::Service service{engine, {"*"}};
  static kapitsa::app::Routes routes(service, {});
  static const kapitsa::net::Handlers handlers = routes.handlers();

  if (size == 0) return 0;
  const size_t step = 1 + data[0];
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  RequestReader reader({4096, 65536});
  const auto check = [](const kapitsa::net::Response& response) {
    if (response.status < 200 || response.status > 599) std::abort();
  };
  for (size_t at = 0; at < bytes.size(); at += step) {
    reader.add(bytes.substr(at, step));
    for (bool more = true; more;) {
      switch (reader.advance()) {
        case RequestReader::State::kNeedMore:
          more = false;
          break;
        case RequestReader::State::kHead:
          if (const auto refusal = handlers.gate(reader.head())) {
            check(*refusal);
            return 0;
          }
          break;
        case RequestReader::State::kDone:
          check(std::get<kapitsa::net::Response>(handlers.handle(reader.take(), kapitsa::Cancel())));
          break;
        case RequestReader::State::kFailed:
          check(handlers.failure(reader.error_status(), reader.error_text(), reader.head()));
          return 0;
      }
    }
  }
  return 0;
}
