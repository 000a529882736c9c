// Qwen2.5, Qwen3, Hermes and those trained like them:
//   <tool_call>
//   {"name": NAME, "arguments": {...}}
//   </tool_call>
// Seen in the wild and read too: the object without its wrapper, "parameters" for "arguments",
// arguments before the name or as a string that holds JSON, several objects or a list of them in
// one wrapper (Apriel's is <tool_calls>), and XML as the newer models write it.
#include "text/dialect/dialect.h"

namespace kapitsa::text {

CallForm json_call() {
  return {.body = JsonForm{.name_keys = {"name"}, .arguments_keys = {"arguments", "parameters"}},
          .without_open = true};
}

const Dialect& hermes_json() {
  static const Dialect dialect = {
      .name = "hermes_json",
      .signs = {"<tool_call>", "\"arguments\""},
      .thinking = plain().thinking,
      .calls = CallSyntax{.open = {"<tool_call>", "<tool_calls>"},
                          .close = {"</tool_call>", "</tool_calls>"},
                          .gap = "\n",
                          .forms = {json_call(), xml_call()}},
  };
  return dialect;
}

}  // namespace kapitsa::text
