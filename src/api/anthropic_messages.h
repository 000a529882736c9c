// POST /v1/messages and /v1/messages/count_tokens
#pragma once

#include "api/answer.h"
#include "api/service.h"

namespace kapitsa::api {

// Tools are rendered into the prompt; a call that the model writes comes back as text. Thinking is off
// unless `thinking` asks for it, where the model's template has the switch.
Outcome anthropic_messages(const Service& service, const Json& body, const Cancel& cancel = {});

Outcome anthropic_count_tokens(const Service& service, const Json& body, const Cancel& cancel = {});

}  // namespace kapitsa::api
