// Any bytes as a chat template, and as what a user typed: text or an error, and the spans spell the text.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "text/template/chat_template.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using kapitsa::Json;
  // The template, and behind the first NUL what the user says.
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t nul = std::min(bytes.find('\0'), size);
  const auto compiled = kapitsa::text::ChatTemplate::compile(bytes.substr(0, nul));
  if (!compiled.ok()) return 0;

  const std::string content(bytes.substr(std::min(nul + 1, size)));
  kapitsa::text::TemplateInput input;
  input.messages = {{{"role", "system"}, {"content", "s"}},
                    {{"role", "user"}, {"content", content}},
                    {{"role", "assistant"}, {"content", Json::array({{{"type", "text"}, {"text", content}}})}}};
  input.tools = {{{"name", content}}};
  const auto plain = (*compiled)->render(input);
  const auto spans = (*compiled)->render_spans(input);
  if (plain.ok() != spans.ok()) std::abort();
  if (!plain.ok()) return 0;
  std::string text;
  for (const auto& span : *spans) text += span.text;
  if (text != *plain) std::abort();
  return 0;
}
