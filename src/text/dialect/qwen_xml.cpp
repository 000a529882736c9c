// Qwen3-Coder, Qwen3.5, 3.6 and 3.8:
//   <tool_call>
//   <function=NAME>
//   <parameter=KEY>
//   VALUE
//   </parameter>
//   </function>
//   </tool_call>
// Seen in the wild and read too: no <tool_call>, a second </tool_call>, a name in quotes or as an
// attribute, and the JSON object of the older models in place of <function=...>.
#include "text/dialect/dialect.h"

namespace kapitsa::text {

CallForm xml_call() {
  return {.body = TaggedForm{.name_open = {"<function=", "<function name="},
                             .name_close = {">"},
                             .key_open = {"<parameter=", "<parameter name="},
                             .key_close = {">"},
                             .value_open = {},
                             .value_close = {"</parameter>"},
                             .close = {"</function>"},
                             .padding = "\n"},
          .without_open = true};
}

const Dialect& qwen_xml() {
  static const Dialect dialect = {
      .name = "qwen_xml",
      .signs = {"<tool_call>", "<function=", "<parameter="},
      .thinking = plain().thinking,
      .calls = CallSyntax{.open = {"<tool_call>"},
                          .close = {"</tool_call>"},
                          .gap = "\n",
                          .forms = {xml_call(), json_call()}},
  };
  return dialect;
}

}  // namespace kapitsa::text
