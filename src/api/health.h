// GET /health
#pragma once

#include "api/service.h"

namespace kapitsa::api {

// {"status":"ok"} and what the engine is doing.
Json health(const Service& service);

}  // namespace kapitsa::api
