// Flint and the GLM models that its calls come from; newer templates write no line breaks between
// the tags:
//   <tool_call>NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value></tool_call>
// Seen in the wild and read too: line breaks anywhere between the tags, and JSON or XML calls.
#include "text/dialect/dialect.h"

namespace kapitsa::text {

CallForm pair_call() {
  return {.body = TaggedForm{.name_open = {},
                             .name_close = {},
                             .key_open = {"<arg_key>"},
                             .key_close = {"</arg_key>"},
                             .value_open = {"<arg_value>"},
                             .value_close = {"</arg_value>"},
                             .close = {},
                             .padding = ""},
          .without_open = false};
}

const Dialect& flint() {
  static const Dialect dialect = {
      .name = "flint",
      .signs = {"<tool_call>", "<arg_key>", "<arg_value>"},
      .thinking = {.open = {"<think>"},
                   .close = {"</think>"},
                   .after_open = "",
                   .before_close = "",
                   .after_close = ""},
      .calls = CallSyntax{.open = {"<tool_call>"},
                          .close = {"</tool_call>"},
                          .gap = "",
                          .forms = {pair_call(), xml_call(), json_call()}},
  };
  return dialect;
}

}  // namespace kapitsa::text
