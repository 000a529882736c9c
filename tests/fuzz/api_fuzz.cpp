#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/anthropic_messages.h"
#include "api/openai_chat.h"
#include "api/openai_completions.h"
#include "tests/support/scripted_engine.h"

// Any request body gives an answer whose requests are within limits, or an error with words.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace api = kapitsa::api;
  static kapitsa::test::ScriptedEngine engine({kapitsa::test::Script{}});
  static const api::Service service{engine, {"*"}};
  const auto body =
      kapitsa::parse_json({reinterpret_cast<const char*>(data), size}, "request body");
  if (!body.ok()) return 0;
  for (const auto endpoint : {api::openai_chat, api::openai_completions, api::anthropic_messages,
                              api::anthropic_count_tokens}) {
    const api::Outcome outcome = endpoint(service, body.value(), kapitsa::Cancel());
    if (const auto* error = std::get_if<api::Error>(&outcome)) {
      if (error->message.empty() || error->status < 400) std::abort();
      for (const auto protocol : {api::Protocol::kOpenAi, api::Protocol::kAnthropic}) {
        (void)api::to_text(api::error_body(protocol, *error, "req_1"));
      }
    } else if (const auto* answer = std::get_if<std::unique_ptr<api::Answer>>(&outcome)) {
      if ((*answer)->requests.empty() || (*answer)->requests.size() > 128) std::abort();
      for (const auto& request : (*answer)->requests) {
        if (request.max_tokens < 1 || request.prompt.size() >= 4096) std::abort();
      }
    }
  }
  return 0;
}
