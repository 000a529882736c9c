#define XXH_INLINE_ALL
#include "text/token/piece_map.h"

#include <xxhash.h>

#include <algorithm>

namespace kapitsa::text {

size_t PieceMap::locate(std::string_view key, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  for (size_t at = hash & mask;; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.id < 0) return at;
    if (slot.hash == hash && slot.length == key.size() &&
        std::string_view(bytes_).substr(slot.offset, slot.length) == key) {
      return at;
    }
  }
}

void PieceMap::grow(size_t slots) {
  std::vector<Slot> old(slots);
  old.swap(slots_);
  const size_t mask = slots - 1;
  for (const Slot& slot : old) {
    if (slot.id < 0) continue;
    size_t at = slot.hash & mask;
    while (slots_[at].id >= 0) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

bool PieceMap::insert(std::string_view key, TokenId id) {
  if (2 * (count_ + 1) > slots_.size()) grow(2 * slots_.size());
  const uint64_t hash = XXH3_64bits(key.data(), key.size());
  Slot& slot = slots_[locate(key, hash)];
  if (slot.id >= 0) return false;
  slot = {hash, bytes_.size(), static_cast<uint32_t>(key.size()), id};
  bytes_.append(key);
  ++count_;
  longest_ = std::max(longest_, key.size());
  return true;
}

TokenId PieceMap::find(std::string_view key) const {
  if (key.size() > longest_) return -1;
  return slots_[locate(key, XXH3_64bits(key.data(), key.size()))].id;
}

}  // namespace kapitsa::text
