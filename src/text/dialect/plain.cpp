// Thoughts and text: models that call no tools, or in a way that is not known here.
#include "text/dialect/dialect.h"

namespace kapitsa::text {

const Dialect& plain() {
  static const Dialect dialect = {
      .name = "plain",
      .signs = {},
      .thinking = {.open = {"<think>"},
                   .close = {"</think>"},
                   .after_open = "\n",
                   .before_close = "\n",
                   .after_close = "\n\n"},
      .calls = std::nullopt,
  };
  return dialect;
}

}  // namespace kapitsa::text
