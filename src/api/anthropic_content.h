// System text, messages and tools of a Messages request -> what chat templates take.
#pragma once

#include <string>

#include "api/params.h"

namespace kapitsa::api {

struct AnthropicConversation {
  Json messages = Json::array();     // the Hugging Face form, system text first
  Json tools;                        // functions, or null
  std::string prefill;               // a last assistant message: the answer goes on from it
};

// Cache marks are ignored, so a text block is the same as its string. Claude Code's billing block is
// dropped: it changes between conversations and would spoil the shared prefix. Images are refused.
AnthropicConversation read_anthropic_conversation(Params& params);

}  // namespace kapitsa::api
