// The "model" and "added_tokens" of a tokenizer.json.
#pragma once

#include <memory>
#include <vector>

#include "base/json.h"
#include "text/token/added_tokens.h"
#include "text/token/bpe_model.h"
#include "text/token/vocab.h"

namespace kapitsa::text {

// model.vocab; refuses a model other than BPE.
Status read_vocab(const Json& model, Vocab& vocab);

// Adds the tokens to `vocab`, marked; refuses an id that contradicts it.
Result<std::vector<AddedToken>> read_added_tokens(const Json& list, Vocab& vocab);

// Merges and options, once `vocab` is whole.
Result<std::unique_ptr<BpeModel>> read_model(const Json& model, const Vocab& vocab, bool byte_level);

// What merging may lead to, in raw bytes: all pieces of `vocab` but the special ones, so that no text
// can spell a control token that it was not allowed to.
PieceMap spellable_pieces(const Vocab& vocab, bool byte_level);

struct ResolvedMerge {
  TokenId left, right, joined;
};
// The merge of two pieces; nullopt where it would give a special token. Corrupt where one of the three
// is no piece.
Result<std::optional<ResolvedMerge>> resolve_merge(const Vocab& vocab, std::string_view left,
                                                   std::string_view right);

// The tokens "<0x00>" to "<0xFF>"; -1 where there is none.
std::array<TokenId, 256> byte_tokens(const Vocab& vocab);

}  // namespace kapitsa::text
