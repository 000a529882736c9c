#include "api/answer.h"

namespace kapitsa::api {

std::string to_text(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace kapitsa::api
