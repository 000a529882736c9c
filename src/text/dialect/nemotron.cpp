// Nemotron 3: Qwen's XML calls, and thoughts without a blank line behind them: <think></think> is
// none.
#include "text/dialect/dialect.h"

namespace kapitsa::text {

const Dialect& nemotron() {
  static const Dialect dialect = [] {
    Dialect out = qwen_xml();
    out.name = "nemotron";
    out.signs.push_back("<think></think>");
    out.thinking.after_close = "\n";
    return out;
  }();
  return dialect;
}

}  // namespace kapitsa::text
