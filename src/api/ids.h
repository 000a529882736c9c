// Random names of responses and requests.
#pragma once

#include <string>
#include <string_view>

namespace kapitsa::api {

// `prefix` and 24 random letters and digits ("chatcmpl-...", "msg_...", "req_...").
std::string make_id(std::string_view prefix);

}  // namespace kapitsa::api
