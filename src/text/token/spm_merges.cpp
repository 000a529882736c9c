#include "text/token/spm_merges.h"

#include <algorithm>
#include <cmath>

#include "text/unicode/utf8.h"

namespace kapitsa::text {
namespace {

// Looking at every way to cut a piece costs the square of its length.
constexpr size_t kLongestPiece = 512;

}  // namespace

Result<SpmMerges> spm_merges(const std::vector<ScoredPiece>& pieces, size_t vocab_size) {
  SpmMerges result;
  std::vector<double> scores;
  for (const ScoredPiece& piece : pieces) {
    if (piece.piece.size() > kLongestPiece) {
      return error(Code::kUnsupported, "token {} has {} bytes, more than {}", piece.id,
                   piece.piece.size(), kLongestPiece);
    }
    if (std::isnan(piece.score)) return error(Code::kCorrupt, "token {} has no score", piece.id);
    result.pieces.insert(piece.piece, piece.id);
    scores.push_back(piece.score);
  }
  for (const ScoredPiece& piece : pieces) {
    for (size_t at = 0; at < piece.piece.size();) {
      const std::string_view character =
          piece.piece.substr(at, sequence_length(piece.piece[at]));
      at += character.size();
      if (character.size() == piece.piece.size() || result.pieces.find(character) >= 0) continue;
      result.pieces.insert(character, static_cast<TokenId>(vocab_size + result.missing.size()));
      result.missing.emplace_back(character);
    }
  }
  std::sort(scores.begin(), scores.end(), std::greater<>());
  scores.erase(std::unique(scores.begin(), scores.end()), scores.end());
  for (const ScoredPiece& piece : pieces) {
    if (result.pieces.find(piece.piece) != piece.id) continue;  // the second of two equal pieces
    const auto rank = std::lower_bound(scores.begin(), scores.end(), piece.score, std::greater<>()) -
                      scores.begin();
    for (size_t at = 1; at < piece.piece.size(); ++at) {
      if ((static_cast<unsigned char>(piece.piece[at]) & 0xC0) == 0x80) continue;
      const TokenId left = result.pieces.find(piece.piece.substr(0, at));
      const TokenId right = result.pieces.find(piece.piece.substr(at));
      if (left >= 0 && right >= 0) {
        result.merges.set(left, right, {static_cast<uint32_t>(rank), piece.id});
      }
    }
  }
  return result;
}

}  // namespace kapitsa::text
