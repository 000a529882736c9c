// POST /v1/completions
#pragma once

#include "api/answer.h"
#include "api/service.h"

namespace kapitsa::api {

// The prompt stands as it is: whoever sends it has written the template, so spellings of special
// tokens in it are special tokens unless `parse_special` is false.
Outcome openai_completions(const Service& service, const Json& body, const Cancel& cancel = {});

}  // namespace kapitsa::api
