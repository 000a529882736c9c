// A read-mostly hash map from byte strings to token ids.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/token/tokenizer.h"

namespace kapitsa::text {

class PieceMap {
 public:
  PieceMap() { grow(64); }
  // False, and nothing changes, where `key` is there already.
  bool insert(std::string_view key, TokenId id);
  // -1 where `key` is not there.
  TokenId find(std::string_view key) const;
  size_t size() const { return count_; }
  size_t longest_key() const { return longest_; }

 private:
  struct Slot {
    uint64_t hash = 0;
    uint64_t offset = 0;
    uint32_t length = 0;
    TokenId id = -1;  // -1: empty
  };
  size_t locate(std::string_view key, uint64_t hash) const;
  void grow(size_t slots);

  std::string bytes_;
  std::vector<Slot> slots_;  // a power of two, at most half full, linear probing
  size_t count_ = 0;
  size_t longest_ = 0;
};

}  // namespace kapitsa::text
