// SentencePiece's BPE: a score for each piece instead of a list of merges.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "text/token/merge_table.h"
#include "text/token/piece_map.h"

namespace kapitsa::text {

// A piece that spelling may lead to.
struct ScoredPiece {
  TokenId id;
  std::string_view piece;
  double score;
};

struct SpmMerges {
  PieceMap pieces;
  MergeTable merges;
  // Characters of pieces that are no pieces themselves; their ids follow the vocabulary.
  std::vector<std::string> missing;
};

// All ways to join two symbols to a piece; equal scores give equal ranks, so that of equals the leftmost
// joins first, as SentencePiece does it.
Result<SpmMerges> spm_merges(const std::vector<ScoredPiece>& pieces, size_t vocab_size);

}  // namespace kapitsa::text
