// The merges of a BPE model: which pairs of neighbouring symbols join, to what, and how early.
#pragma once

#include <cstdint>
#include <vector>

#include "text/token/tokenizer.h"

namespace kapitsa::text {

struct Merge {
  static constexpr uint32_t kNever = UINT32_MAX;
  uint32_t rank = kNever;  // the lowest joins first
  TokenId id = -1;
};

class MergeTable {
 public:
  // A second merge of the same pair replaces the first.
  void set(TokenId left, TokenId right, Merge merge) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[locate(key(left, right))];
    if (slot.merge.rank == Merge::kNever) ++count_;
    slot = {key(left, right), merge};
  }

  // rank == kNever where the pair does not join.
  Merge find(TokenId left, TokenId right) const {
    return slots_[locate(key(left, right))].merge;
  }

  size_t size() const { return count_; }

 private:
  struct Slot {
    uint64_t key = 0;
    Merge merge;  // rank kNever: empty
  };

  static uint64_t key(TokenId left, TokenId right) {
    return uint64_t(uint32_t(left)) << 32 | uint32_t(right);
  }

  size_t locate(uint64_t key) const {
    const size_t mask = slots_.size() - 1;
    uint64_t hash = key * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
    for (size_t at = hash & mask;; at = (at + 1) & mask) {
      const Slot& slot = slots_[at];
      if (slot.merge.rank == Merge::kNever || slot.key == key) return at;
    }
  }

  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.merge.rank != Merge::kNever) slots_[locate(slot.key)] = slot;
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(64);  // a power of two, at most half full
  size_t count_ = 0;
};

}  // namespace kapitsa::text
