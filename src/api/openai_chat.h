// POST /v1/chat/completions
#pragma once

#include "api/answer.h"
#include "api/service.h"

namespace kapitsa::api {

// Tools are rendered into the prompt; a call that the model writes comes back as text.
Outcome openai_chat(const Service& service, const Json& body, const Cancel& cancel = {});

}  // namespace kapitsa::api
