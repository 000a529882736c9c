#include "text/token/json_model.h"

#include "text/token/byte_alphabet.h"
#include "text/token/json_fields.h"

namespace kapitsa::text {
namespace {

constexpr std::string_view kWhere = "model";

// "left right", or ["left", "right"]. False where `merge` is neither.
bool read_pair(const Json& merge, std::string& left, std::string& right) {
  if (merge.is_string()) {
    const std::string& both = merge.get_ref<const std::string&>();
    const size_t space = both.find(' ');
    if (space == std::string::npos || both.find(' ', space + 1) != std::string::npos) return false;
    left = both.substr(0, space);
    right = both.substr(space + 1);
    return true;
  }
  if (!merge.is_array() || merge.size() != 2 || !merge[0].is_string() || !merge[1].is_string()) {
    return false;
  }
  left = merge[0].get_ref<const std::string&>();
  right = merge[1].get_ref<const std::string&>();
  return true;
}

Status refuse_unknown_options(const Json& model) {
  for (const std::string_view key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    KAPITSA_ASSIGN(const std::string value, string_field(model, key, "", kWhere));
    if (!value.empty()) {
      return error(Code::kUnsupported, "model.{} is \"{}\"; only an empty one is known", key, value);
    }
  }
  const Json& dropout = field(model, "dropout");
  if (dropout.is_null() || dropout == 0) return Status();
  return error(Code::kUnsupported, "model.dropout is {}; only 0 is known", dropout.dump());
}

}  // namespace

Status read_vocab(const Json& model, Vocab& vocab) {
  if (!model.is_object()) return error(Code::kCorrupt, "model is missing or not an object");
  // Files from before model.type hold BPE where they hold merges.
  KAPITSA_ASSIGN(const std::string type,
                 string_field(model, "type", model.contains("merges") ? "BPE" : "unnamed", kWhere));
  if (type != "BPE") {
    return error(Code::kUnsupported, "the model is of type {}; BPE is known", type);
  }
  const Json& pieces = field(model, "vocab");
  if (!pieces.is_object()) return error(Code::kCorrupt, "model.vocab is missing or not an object");
  for (const auto& [piece, id] : pieces.items()) {
    if (!id.is_number_integer()) {
      return error(Code::kCorrupt, "model.vocab gives \"{}\" the id {}", piece, id.dump());
    }
    KAPITSA_RETURN_IF_ERROR(vocab.set(id.get<int64_t>(), piece));
  }
  return Status();
}

Result<std::vector<AddedToken>> read_added_tokens(const Json& list, Vocab& vocab) {
  std::vector<AddedToken> result;
  if (list.is_null()) return result;
  if (!list.is_array()) return error(Code::kCorrupt, "added_tokens is not a list");
  for (const Json& item : list) {
    constexpr std::string_view kItem = "added_tokens[]";
    const Json& id = field(item, "id");
    const Json& content = field(item, "content");
    if (!id.is_number_integer() || !content.is_string()) {
      return error(Code::kCorrupt, "added_tokens[{}] lacks an integer id or a string content",
                   result.size());
    }
    AddedToken token;
    token.content = content.get<std::string>();
    if (const TokenId known = vocab.find(token.content); known >= 0 && known != id) {
      return error(Code::kCorrupt, "\"{}\" is token {} in one place and token {} in added_tokens",
                   token.content, known, id.dump());
    }
    KAPITSA_RETURN_IF_ERROR(vocab.set(id.get<int64_t>(), token.content));
    token.id = id.get<TokenId>();
    KAPITSA_ASSIGN(token.special, bool_field(item, "special", false, kItem));
    KAPITSA_ASSIGN(token.normalized, bool_field(item, "normalized", !token.special, kItem));
    KAPITSA_ASSIGN(token.single_word, bool_field(item, "single_word", false, kItem));
    KAPITSA_ASSIGN(token.lstrip, bool_field(item, "lstrip", false, kItem));
    KAPITSA_ASSIGN(token.rstrip, bool_field(item, "rstrip", false, kItem));
    vocab.mark(token.id, true, token.special);
    result.push_back(std::move(token));
  }
  return result;
}

PieceMap spellable_pieces(const Vocab& vocab, bool byte_level) {
  PieceMap result;
  for (size_t i = 0; i < vocab.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    if (!vocab.has(id) || vocab.is_special(id)) continue;
    if (!byte_level) {
      result.insert(vocab.piece(id), id);
    } else if (const auto raw = from_alphabet(vocab.piece(id))) {
      result.insert(*raw, id);
    }
  }
  return result;
}

Result<std::optional<ResolvedMerge>> resolve_merge(const Vocab& vocab, std::string_view left,
                                                   std::string_view right) {
  const std::string joined = std::string(left).append(right);
  for (const std::string_view piece : {left, right, std::string_view(joined)}) {
    if (vocab.find(piece) < 0) {
      return error(Code::kCorrupt, "the merge of \"{}\" and \"{}\" needs \"{}\", which is no token",
                   left, right, piece);
    }
  }
  const TokenId id = vocab.find(joined);
  if (vocab.is_special(id)) return std::optional<ResolvedMerge>();
  return std::optional(ResolvedMerge{vocab.find(left), vocab.find(right), id});
}

std::array<TokenId, 256> byte_tokens(const Vocab& vocab) {
  std::array<TokenId, 256> result;
  for (int b = 0; b < 256; ++b) result[b] = vocab.find(fmt::format("<0x{:02X}>", b));
  return result;
}

Result<std::unique_ptr<BpeModel>> read_model(const Json& model, const Vocab& vocab, bool byte_level) {
  KAPITSA_RETURN_IF_ERROR(refuse_unknown_options(model));
  BpeModel::Options options;
  options.byte_level = byte_level;
  KAPITSA_ASSIGN(options.ignore_merges, bool_field(model, "ignore_merges", false, kWhere));
  KAPITSA_ASSIGN(options.byte_fallback, bool_field(model, "byte_fallback", false, kWhere));
  KAPITSA_ASSIGN(options.fuse_unk, bool_field(model, "fuse_unk", false, kWhere));
  if (!field(model, "unk_token").is_null()) {
    KAPITSA_ASSIGN(const std::string unk, string_field(model, "unk_token", "", kWhere));
    const TokenId id = vocab.find(unk);
    if (id < 0) return error(Code::kCorrupt, "model.unk_token \"{}\" is no token", unk);
    options.unk = id;
  }
  MergeTable merges;
  const Json& list = field(model, "merges");
  if (!list.is_array()) return error(Code::kCorrupt, "model.merges is missing or not a list");
  uint32_t rank = 0;
  for (const Json& merge : list) {
    std::string left, right;
    if (!read_pair(merge, left, right)) {
      return error(Code::kCorrupt, "model.merges[{}] is not a pair of pieces", rank);
    }
    KAPITSA_ASSIGN(const auto resolved, resolve_merge(vocab, left, right));
    if (resolved) merges.set(resolved->left, resolved->right, {rank, resolved->joined});
    ++rank;
  }
  return std::make_unique<BpeModel>(options, spellable_pieces(vocab, byte_level), std::move(merges),
                                    byte_tokens(vocab), vocab.size());
}

}  // namespace kapitsa::text
