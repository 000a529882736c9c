// The chat templates of the fixtures, the conversations of these tests, and what Jinja2 makes of them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "text/template/chat_template.h"

namespace kapitsa::text {

// The real templates, in order of their names. Empty where the fixtures are missing.
std::vector<std::filesystem::path> template_paths();
std::string read_text(const std::filesystem::path& path);

// conversations.json: [{"name", "messages", "tools"?, "add_generation_prompt"?, "variables"}].
const Json& conversations();
TemplateInput input_of(const Json& conversation);

// Runs reference.py over `paths` and all conversations: {file: {conversation: {"text"|"error"}}}. Null
// where Python fails.
Json reference(const std::vector<std::filesystem::path>& paths);

}  // namespace kapitsa::text
