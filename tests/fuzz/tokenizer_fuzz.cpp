// A tokenizer.json, a zero byte, a text: loading gives an error or a tokenizer that encodes any UTF-8.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "text/token/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const size_t cut = std::min(all.find('\0'), all.size());
  const std::string_view text = all.substr(std::min(cut + 1, all.size()));
  const auto json = kapitsa::parse_json(all.substr(0, cut), "input");
  if (!json.ok()) return 0;
  const auto tokenizer = kapitsa::text::Tokenizer::from_json(*json, *json);
  if (!tokenizer.ok()) return 0;
  for (const bool trusted : {false, true}) {
    const auto ids = (*tokenizer)->encode(text, trusted);
    if (!ids.ok()) continue;
    kapitsa::text::Detokenizer detokenizer(**tokenizer, true);
    for (const auto id : *ids) {
      if ((*tokenizer)->piece(id).empty()) std::abort();  // an id that the vocabulary lacks
      detokenizer.push(id);
    }
    detokenizer.finish();
  }
  return 0;
}
