// The messages and tools of a Chat Completions request -> what chat templates take.
#pragma once

#include "api/params.h"

namespace kapitsa::api {

// `messages` in the Hugging Face form: contents as plain strings, tool arguments as objects,
// reasoning_content kept. Images and audio are refused by name.
Json read_openai_messages(Params& params);

// `tools` as they stand, checked to be functions; null where there are none.
Json read_openai_tools(Params& params);

// Whether `tool_choice` lets the model call tools; an error where it demands a call.
bool read_openai_tool_choice(Params& params);

}  // namespace kapitsa::api
