// A tokenizer.json as the tokenizer.ggml.* keys of a GGUF header: gguf_loader.cpp the other way round.
#pragma once

#include "base/json.h"
#include "text/token/tokenizer.h"
#include "weights/metadata.h"

namespace kapitsa::text {

// `loaded` is what Tokenizer::from_json() made of the two objects. Ids that the vocabulary lacks up to `rows`, the model's
// embeddings, become unused tokens. `pre`: the word for its pre-tokenizer; empty: found. Error kUnsupported: GGUF has none (those that
// there are stand in gguf_pretokenizer.h).
Result<weights::Metadata> gguf_tokenizer_keys(const Json& tokenizer, const Json& config, const Tokenizer& loaded, int64_t rows,
                                              const std::string& pre = {});

}  // namespace kapitsa::text
