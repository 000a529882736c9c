// Token ids and their spellings, as a file lists them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "text/token/piece_map.h"

namespace kapitsa::text {

class Vocab {
 public:
  // Ids past this are taken for a broken file: the tables would be giant.
  static constexpr int64_t kMaxId = (1 << 20) - 1;

  // Refuses a negative or giant id, and an id that has another piece already. Of two ids with one piece
  // find() gives the first.
  Status set(int64_t id, std::string piece);

  // One past the highest id.
  size_t size() const { return entries_.size(); }
  // The ids that have a piece.
  size_t count() const { return count_; }
  bool has(TokenId id) const {
    return id >= 0 && static_cast<size_t>(id) < size() && entries_[id].present;
  }
  // Empty where there is none.
  const std::string& piece(TokenId id) const;
  TokenId find(std::string_view piece) const { return ids_.find(piece); }

  // An added token: spelled as it is, whatever the model's decoder does to pieces.
  bool is_added(TokenId id) const { return has(id) && entries_[id].added; }
  bool is_special(TokenId id) const { return has(id) && entries_[id].special; }
  void mark(TokenId id, bool added, bool special);

 private:
  struct Entry {
    std::string piece;
    bool present = false, added = false, special = false;
  };
  std::vector<Entry> entries_;
  PieceMap ids_;
  size_t count_ = 0;
};

}  // namespace kapitsa::text
