// Error objects in each protocol's own shape.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/status.h"

namespace kapitsa::api {

enum class Protocol { kOpenAi, kAnthropic };

// What went wrong with a request, before a protocol gives it its shape.
struct Error {
  int status = 400;         // of HTTP
  std::string message;
  std::string param;        // the field, as a path: "messages[2].content"; empty where none
  std::string code;         // OpenAI's machine-readable code; empty: null
  std::optional<int> retry_after;  // seconds
};

// Which protocol a path belongs to; `anthropic_header`: the request has an anthropic-version header.
Protocol protocol_of(std::string_view path, bool anthropic_header);

// The error object. Anthropic's carries the request's id, OpenAI's does not.
Json error_body(Protocol protocol, const Error& error, std::string_view request_id);

// The status that HTTP carries: Anthropic's overload has a number of its own (529).
int http_status(Protocol protocol, const Error& error);

// A failure of the engine, the template or the tokenizer.
Error from_status(const Status& status);

// A prompt that does not fit. The words are those by which clients recognise it and compact.
Error too_long(Protocol protocol, int64_t prompt_tokens, int context);

Error model_not_found(std::string_view asked, std::string_view served);

}  // namespace kapitsa::api
