#include "api/errors.h"

#include "api/params.h"

namespace kapitsa::api {
namespace {

std::string_view openai_type(int status) {
  switch (status) {
    case 401: return "authentication_error";
    case 403: return "permission_error";
    case 429: return "rate_limit_error";
    default: return status >= 500 ? "server_error" : "invalid_request_error";
  }
}

std::string_view anthropic_type(int status) {
  switch (status) {
    case 401: return "authentication_error";
    case 403: return "permission_error";
    case 404: return "not_found_error";
    case 413: return "request_too_large";
    case 429: return "rate_limit_error";
    case 503:
    case 529: return "overloaded_error";
    default: return status >= 500 ? "api_error" : "invalid_request_error";
  }
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

}  // namespace

Protocol protocol_of(std::string_view path, bool anthropic_header) {
  constexpr std::string_view kMessages = "/v1/messages";
  if (path.substr(0, kMessages.size()) == kMessages) return Protocol::kAnthropic;
  constexpr std::string_view kModels = "/v1/models";
  const bool shared = path.substr(0, kModels.size()) == kModels;
  return shared && anthropic_header ? Protocol::kAnthropic : Protocol::kOpenAi;
}

Json error_body(Protocol protocol, const Error& error, std::string_view request_id) {
  if (protocol == Protocol::kOpenAi) {
    return {{"error",
             {{"message", error.message},
              {"type", openai_type(error.status)},
              {"param", text_or_null(error.param)},
              {"code", text_or_null(error.code)}}}};
  }
  Json out = {{"type", "error"},
              {"error", {{"type", anthropic_type(error.status)}, {"message", error.message}}}};
  // In the middle of a stream the response's head has said it.
  if (!request_id.empty()) out["request_id"] = request_id;
  return out;
}

int http_status(Protocol protocol, const Error& error) {
  return protocol == Protocol::kAnthropic && error.status == 503 ? 529 : error.status;
}

Error from_status(const Status& status) {
  Error out;
  out.message = status.message();
  switch (status.code()) {
    case Code::kExhausted:
      out.code = "context_length_exceeded";
      break;
    case Code::kUnavailable:
      out.status = 503;
      out.code = "overloaded";
      out.retry_after = 2;
      break;
    case Code::kCancelled:
      out.status = 503;
      out.code = "cancelled";
      out.retry_after = 2;
      break;
    case Code::kInternal:
      out.status = 500;
      out.code = "internal_error";
      break;
    default:
      break;
  }
  return out;
}

Error too_long(Protocol protocol, int64_t prompt_tokens, int context) {
  Error out;
  out.code = "context_length_exceeded";
  out.message =
      protocol == Protocol::kAnthropic
          ? fmt::format("prompt is too long: {} tokens > {} maximum", prompt_tokens, context)
          : fmt::format("This model's maximum context length is {} tokens, but the request has {} "
                        "tokens of prompt. Shorten it, or serve with a larger --ctx.",
                        context, prompt_tokens);
  return out;
}

Error model_not_found(std::string_view asked, std::string_view served) {
  Error out;
  out.status = 404;
  out.param = "model";
  out.code = "model_not_found";
  out.message = fmt::format(
      "model {} is not served here; served: {} (serve with --alias NAME to answer to another name)",
      brief(Json(asked)), served);
  return out;
}

}  // namespace kapitsa::api
