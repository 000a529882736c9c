#include "text/token/bpe_model.h"

#include <algorithm>
#include <queue>

#include "text/unicode/utf8.h"

namespace kapitsa::text {
namespace {

// Up to this many symbols a scan for the lowest rank beats a heap.
constexpr size_t kShort = 32;

}  // namespace

BpeModel::BpeModel(Options options, PieceMap pieces, MergeTable merges,
                   const std::array<TokenId, 256>& byte_tokens, size_t vocab_size,
                   std::vector<std::string> missing)
    : options_(options),
      pieces_(std::move(pieces)),
      merges_(std::move(merges)),
      byte_tokens_(byte_tokens),
      vocab_size_(vocab_size),
      missing_(std::move(missing)),
      reaches_itself_(new std::atomic<uint8_t>[vocab_size]()) {
  for (int b = 0; b < 256; ++b) {
    const char byte = static_cast<char>(b);
    byte_symbols_[b] = options_.byte_level || b < 0x80 ? pieces_.find({&byte, 1}) : -1;
  }
}

void BpeModel::encode(std::string_view word, std::vector<TokenId>& out) const {
  if (const TokenId id = reached_by(word); id >= 0) {
    out.push_back(id);
    return;
  }
  thread_local std::vector<TokenId> ids;
  ids.clear();
  split(word, ids);
  merge(ids);
  out.insert(out.end(), ids.begin(), ids.end());
  if (ids.capacity() > 65536) std::vector<TokenId>().swap(ids);
}

// The one token that `word` becomes, as far as a look-up can tell; else -1.
TokenId BpeModel::reached_by(std::string_view word) const {
  const TokenId id = pieces_.find(word);
  if (id < 0 || static_cast<size_t>(id) >= vocab_size_) return -1;
  if (options_.ignore_merges) return id;
  uint8_t known = reaches_itself_[id].load(std::memory_order_relaxed);
  if (known == 0) {
    std::vector<TokenId> ids;
    split(word, ids);
    merge(ids);
    known = ids.size() == 1 && ids[0] == id ? 1 : 2;
    reaches_itself_[id].store(known, std::memory_order_relaxed);
  }
  return known == 1 ? id : -1;
}

// The bytes of a character as tokens; false, and nothing appended, unless each has one.
bool BpeModel::fall_back(std::string_view character, std::vector<TokenId>& ids) const {
  if (!options_.byte_fallback) return false;
  const size_t before = ids.size();
  for (const char b : character) {
    const TokenId id = byte_tokens_[static_cast<unsigned char>(b)];
    if (id < 0) {
      ids.resize(before);
      return false;
    }
    ids.push_back(id);
  }
  return true;
}

void BpeModel::split(std::string_view word, std::vector<TokenId>& ids) const {
  bool unk_waits = false;  // a run of fused unknown characters that is not closed yet
  const auto close = [&] {
    if (unk_waits) ids.push_back(*options_.unk);
    unk_waits = false;
  };
  for (size_t at = 0; at < word.size();) {
    const unsigned char lead = word[at];
    const size_t length = options_.byte_level ? 1 : sequence_length(lead);
    const std::string_view character = word.substr(at, length);
    at += length;
    const TokenId id = length == 1 ? byte_symbols_[lead] : pieces_.find(character);
    if (id >= 0) {
      close();
      ids.push_back(id);
    } else if (!fall_back(character, ids) && options_.unk) {
      if (!options_.fuse_unk) close();
      unk_waits = true;
    }
  }
  close();
}

void BpeModel::merge(std::vector<TokenId>& ids) const {
  if (ids.size() <= kShort) {
    merge_short(ids);
  } else {
    merge_long(ids);
  }
  if (!missing_.empty()) replace_missing(ids);
}

void BpeModel::merge_short(std::vector<TokenId>& ids) const {
  size_t n = ids.size();
  if (n < 2) return;
  Merge next[kShort];  // next[i] joins ids[i] and ids[i + 1]
  for (size_t i = 0; i + 1 < n; ++i) next[i] = merges_.find(ids[i], ids[i + 1]);
  while (n > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < n; ++i) {
      if (next[i].rank < next[best].rank) best = i;
    }
    if (next[best].rank == Merge::kNever) break;
    ids[best] = next[best].id;
    std::copy(ids.begin() + best + 2, ids.begin() + n, ids.begin() + best + 1);
    std::copy(next + best + 1, next + n - 1, next + best);
    --n;
    if (best > 0) next[best - 1] = merges_.find(ids[best - 1], ids[best]);
    if (best + 1 < n) next[best] = merges_.find(ids[best], ids[best + 1]);
  }
  ids.resize(n);
}

void BpeModel::merge_long(std::vector<TokenId>& ids) const {
  struct Symbol {
    TokenId id;  // -1: joined into another
    size_t before, after;
  };
  struct Candidate {
    uint32_t rank;
    TokenId left, right, joined;
    size_t at;
    bool operator<(const Candidate& other) const {  // the queue's top is its largest
      return rank != other.rank ? rank > other.rank : at > other.at;
    }
  };
  constexpr size_t kNone = SIZE_MAX;
  const size_t n = ids.size();
  std::vector<Symbol> symbols(n);
  for (size_t i = 0; i < n; ++i) symbols[i] = {ids[i], i > 0 ? i - 1 : kNone, i + 1 < n ? i + 1 : kNone};
  std::vector<Candidate> found;
  const auto candidate = [&](size_t at) -> std::optional<Candidate> {
    const TokenId left = symbols[at].id, right = symbols[symbols[at].after].id;
    const Merge merge = merges_.find(left, right);
    if (merge.rank == Merge::kNever) return std::nullopt;
    return Candidate{merge.rank, left, right, merge.id, at};
  };
  for (size_t i = 0; i + 1 < n; ++i) {
    if (const auto c = candidate(i)) found.push_back(*c);
  }
  std::priority_queue<Candidate> queue(std::less<Candidate>(), std::move(found));
  while (!queue.empty()) {
    const Candidate c = queue.top();
    queue.pop();
    Symbol& left = symbols[c.at];
    // An earlier merge may have taken one of the two.
    if (left.id != c.left || left.after == kNone || symbols[left.after].id != c.right) continue;
    Symbol& right = symbols[left.after];
    left.id = c.joined;
    right.id = -1;
    left.after = right.after;
    if (left.after != kNone) {
      symbols[left.after].before = c.at;
      if (const auto next = candidate(c.at)) queue.push(*next);
    }
    if (left.before != kNone) {
      if (const auto next = candidate(left.before)) queue.push(*next);
    }
  }
  size_t kept = 0;
  for (const Symbol& symbol : symbols) {
    if (symbol.id >= 0) ids[kept++] = symbol.id;
  }
  ids.resize(kept);
}

void BpeModel::replace_missing(std::vector<TokenId>& ids) const {
  const auto missing = [&](TokenId id) { return static_cast<size_t>(id) >= vocab_size_; };
  if (std::none_of(ids.begin(), ids.end(), missing)) return;
  std::vector<TokenId> out;
  for (const TokenId id : ids) {
    if (!missing(id)) {
      out.push_back(id);
    } else if (!fall_back(missing_[id - vocab_size_], out) && options_.unk) {
      out.push_back(*options_.unk);
    }
  }
  ids.swap(out);
}

}  // namespace kapitsa::text
