#include "text/token/vocab.h"

#include "text/unicode/utf8.h"

namespace kapitsa::text {

Status Vocab::set(int64_t id, std::string piece) {
  if (id < 0 || id > kMaxId) {
    return error(Code::kCorrupt, "token \"{}\" has id {}, which is not within 0 to {}", piece, id,
                 kMaxId);
  }
  if (find_invalid_utf8(piece)) return error(Code::kCorrupt, "token {} is not UTF-8", id);
  if (has(static_cast<TokenId>(id))) {
    if (entries_[id].piece == piece) return Status();
    return error(Code::kCorrupt, "token id {} is given to both \"{}\" and \"{}\"", id,
                 entries_[id].piece, piece);
  }
  if (static_cast<size_t>(id) >= entries_.size()) entries_.resize(id + 1);
  ids_.insert(piece, static_cast<TokenId>(id));
  entries_[id].piece = std::move(piece);
  entries_[id].present = true;
  ++count_;
  return Status();
}

const std::string& Vocab::piece(TokenId id) const {
  static const std::string kNone;
  return has(id) ? entries_[id].piece : kNone;
}

void Vocab::mark(TokenId id, bool added, bool special) {
  if (!has(id)) return;
  entries_[id].added = added;
  entries_[id].special = special;
}

}  // namespace kapitsa::text
