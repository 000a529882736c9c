// GET /v1/models and /v1/models/{id}
#pragma once

#include "api/answer.h"
#include "api/service.h"

namespace kapitsa::api {

// Both protocols ask the same path: entries carry the fields of both, and the context length under the
// names by which clients look for it.
Json list_models(const Service& service);
Outcome show_model(const Service& service, std::string_view id);

}  // namespace kapitsa::api
