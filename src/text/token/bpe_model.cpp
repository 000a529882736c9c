#include "text/token/bpe_model.h"

#include <algorithm>
#include <functional>

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

void BpeModel::encode(std::string_view word, const Cancel& cancel, std::vector<TokenId>& out) const {
  if (const TokenId id = reached_by(word); id >= 0) {
    out.push_back(id);
    return;
  }
  thread_local std::vector<TokenId> ids;
  ids.clear();
  split(word, ids);
  merge(ids, cancel);
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
    merge(ids, Cancel());
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

void BpeModel::merge(std::vector<TokenId>& ids, const Cancel& cancel) const {
  if (ids.size() <= kShort) {
    merge_short(ids);
  } else {
    merge_long(ids, cancel);
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

// The queue holds (rank, position) in one number each, lowest first; an entry counts only while its symbol still
// expects a merge of that rank.
void BpeModel::merge_long(std::vector<TokenId>& ids, const Cancel& cancel) const {
  constexpr uint32_t kNone = UINT32_MAX;
  struct Symbol {
    TokenId id;              // -1: joined into another
    Merge next;              // with the symbol after it
    uint32_t before, after;  // kNone at the ends
  };
  const size_t n = ids.size();
  std::vector<Symbol> symbols(n);
  std::vector<uint64_t> queue;
  const auto expect = [&](uint32_t at) {
    Symbol& symbol = symbols[at];
    symbol.next = symbol.after == kNone ? Merge() : merges_.find(symbol.id, symbols[symbol.after].id);
    if (symbol.next.rank == Merge::kNever) return false;
    queue.push_back(uint64_t{symbol.next.rank} << 32 | at);
    return true;
  };
  const auto later = std::greater<uint64_t>();
  for (size_t i = 0; i < n; ++i) {
    const auto at = static_cast<uint32_t>(i);
    symbols[i] = {ids[i], Merge(), i > 0 ? at - 1 : kNone, i + 1 < n ? at + 1 : kNone};
  }
  for (size_t i = 0; i < n; ++i) expect(static_cast<uint32_t>(i));
  std::make_heap(queue.begin(), queue.end(), later);
  for (size_t steps = 0; !queue.empty(); ++steps) {
    if (steps % 4096 == 4095 && cancel.stopped()) return;
    std::pop_heap(queue.begin(), queue.end(), later);
    const auto at = static_cast<uint32_t>(queue.back());
    const auto rank = static_cast<uint32_t>(queue.back() >> 32);
    queue.pop_back();
    Symbol& left = symbols[at];
    if (left.id < 0 || left.next.rank != rank) continue;
    Symbol& right = symbols[left.after];
    left.id = left.next.id;
    right.id = -1;
    left.after = right.after;
    if (left.after != kNone) symbols[left.after].before = at;
    if (expect(at)) std::push_heap(queue.begin(), queue.end(), later);
    if (left.before != kNone && expect(left.before)) std::push_heap(queue.begin(), queue.end(), later);
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
