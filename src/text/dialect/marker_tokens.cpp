#include "text/dialect/marker_tokens.h"

#include <algorithm>

namespace kapitsa::text {

std::vector<TokenId> marker_tokens(const Dialect& dialect, bool calls, const Tokenizer& tokenizer) {
  std::vector<TokenId> out;
  const auto add = [&](const Spellings& spellings) {
    for (const std::string_view one : spellings) {
      const auto id = tokenizer.find(one);
      if (id && tokenizer.is_special(*id) && std::find(out.begin(), out.end(), *id) == out.end())
        out.push_back(*id);
    }
  };
  add(dialect.thinking.open);
  add(dialect.thinking.close);
  if (!calls || !dialect.calls) return out;
  add(dialect.calls->open);
  add(dialect.calls->close);
  for (const CallForm& form : dialect.calls->forms) {
    const auto* tagged = std::get_if<TaggedForm>(&form.body);
    if (tagged == nullptr) continue;
    for (const Spellings* one :
         {&tagged->name_open, &tagged->name_close, &tagged->key_open, &tagged->key_close,
          &tagged->value_open, &tagged->value_close, &tagged->close}) {
      add(*one);
    }
  }
  return out;
}

}  // namespace kapitsa::text
