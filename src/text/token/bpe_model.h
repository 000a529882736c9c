// Byte-pair encoding: splits one word into symbols and joins neighbours, lowest rank first. Serves
// byte-level vocabularies, character-level ones, and SentencePiece's (their scores turned to ranks).
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "text/token/merge_table.h"
#include "text/token/piece_map.h"

namespace kapitsa::text {

class BpeModel {
 public:
  struct Options {
    bool byte_level = false;     // symbols are bytes; else characters
    bool ignore_merges = false;  // a word that is a piece becomes that piece at once
    bool byte_fallback = false;  // an unknown character becomes its bytes' tokens
    bool fuse_unk = false;       // neighbouring unknown characters become one unk
    std::optional<TokenId> unk;  // none: unknown characters vanish
  };

  // `pieces`: every piece that spelling may lead to, as raw bytes; special tokens are not among them.
  // `byte_tokens`: the token of each byte for byte_fallback, or -1. The ids from `vocab_size` on stand
  // for `missing`: characters that `merges` and `pieces` know but the vocabulary lacks.
  BpeModel(Options options, PieceMap pieces, MergeTable merges,
           const std::array<TokenId, 256>& byte_tokens, size_t vocab_size,
           std::vector<std::string> missing = {});

  // Appends the ids of `word` (valid UTF-8 unless byte_level). O(n log n) in its length; thread-safe.
  // Once `cancel` has stopped, what it appends has no meaning.
  void encode(std::string_view word, const Cancel& cancel, std::vector<TokenId>& out) const;

  const Options& options() const { return options_; }

 private:
  TokenId reached_by(std::string_view word) const;
  void split(std::string_view word, std::vector<TokenId>& ids) const;
  bool fall_back(std::string_view character, std::vector<TokenId>& ids) const;
  void merge(std::vector<TokenId>& ids, const Cancel& cancel) const;
  void merge_short(std::vector<TokenId>& ids) const;
  void merge_long(std::vector<TokenId>& ids, const Cancel& cancel) const;
  void replace_missing(std::vector<TokenId>& ids) const;

  Options options_;
  PieceMap pieces_;
  MergeTable merges_;
  std::array<TokenId, 256> byte_tokens_;
  std::array<TokenId, 256> byte_symbols_;  // by byte: of byte_level; of one-byte characters
  size_t vocab_size_;
  std::vector<std::string> missing_;
  // Whether merging the spelling of a piece gives that very piece: 0 not known yet, 1 yes, 2 no.
  // Such words, most of a text, then cost one look-up.
  std::unique_ptr<std::atomic<uint8_t>[]> reaches_itself_;
};

}  // namespace kapitsa::text
