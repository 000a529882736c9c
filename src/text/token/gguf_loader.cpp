// The tokenizer.ggml.* keys of a GGUF header.
#include "text/token/bpe_tokenizer.h"
#include "text/token/end_tokens.h"
#include "text/token/gguf_pretokenizer.h"
#include "text/token/json_model.h"
#include "text/token/spm_merges.h"

namespace kapitsa::text {
namespace {

enum GgufType { kNormal = 1, kUnknown, kControl, kUserDefined, kUnused, kByte };

std::string key(std::string_view name) { return fmt::format("tokenizer.ggml.{}", name); }

class Loader {
 public:
  explicit Loader(const weights::Metadata& metadata) : metadata_(metadata) {}

  Result<std::unique_ptr<Tokenizer>> load() {
    const std::string* model = metadata_.string(key("model"));
    if (model == nullptr) return error(Code::kCorrupt, "it has no string tokenizer.ggml.model");
    if (*model == "none") return error(Code::kUnsupported, "there is none (tokenizer.ggml.model is \"none\"), and text cannot be run");
    KAPITSA_RETURN_IF_ERROR(read_tokens());
    if (*model == "gpt2") {
      KAPITSA_RETURN_IF_ERROR(read_bpe());
    } else if (*model == "llama") {
      KAPITSA_RETURN_IF_ERROR(read_spm());
    } else {
      return error(Code::kUnsupported, "tokenizer.ggml.model is \"{}\"; known are gpt2 and llama",
                   *model);
    }
    const size_t added = parts_.added.size();
    std::string description = fmt::format("{}, {} tokens + {} added, pre-tokenizer {}",
                                          *model == "llama" ? "SentencePiece BPE" : "BPE",
                                          parts_.vocab.count() - added, added,
                                          parts_.pretokenizer.name);
    const bool strip = parts_.decoder.strip_leading_space;
    KAPITSA_ASSIGN(auto result, BpeTokenizer::create(std::move(parts_)));
    result->description = std::move(description);
    result->strip_leading_space = strip;
    KAPITSA_RETURN_IF_ERROR(read_ends(*result));
    return std::unique_ptr<Tokenizer>(std::move(result));
  }

 private:
  Status read_tokens() {
    const auto* tokens = metadata_.strings(key("tokens"));
    if (tokens == nullptr || tokens->empty()) {
      return error(Code::kCorrupt, "it has no list of strings tokenizer.ggml.tokens");
    }
    const auto* types = metadata_.integers(key("token_type"));
    if (types != nullptr && types->size() != tokens->size()) {
      return error(Code::kCorrupt, "tokenizer.ggml.token_type has {} entries for {} tokens",
                   types->size(), tokens->size());
    }
    for (size_t i = 0; i < tokens->size(); ++i) {
      const auto id = static_cast<TokenId>(i);
      KAPITSA_RETURN_IF_ERROR(parts_.vocab.set(id, (*tokens)[i]));
      const int64_t type = types != nullptr ? (*types)[i] : int64_t{kNormal};
      if (type < 0 || type > kByte) {
        return error(Code::kUnsupported, "token {} is of type {}; known are 0 to 6", i, type);
      }
      types_.push_back(static_cast<GgufType>(type));
      if (type != kControl && type != kUserDefined && type != kUnknown) continue;
      const bool special = type != kUserDefined;
      parts_.vocab.mark(id, true, special);
      AddedToken token;
      token.id = id;
      token.content = (*tokens)[i];
      token.special = special;
      parts_.added.push_back(std::move(token));
    }
    return Status();
  }

  Status read_bpe() {
    const std::string* pre = metadata_.string(key("pre"));
    KAPITSA_ASSIGN(GgufFamily family, gguf_family(pre != nullptr ? *pre : "default"));
    parts_.pretokenizer = std::move(family.pretokenizer);
    parts_.normalizer = std::move(family.normalizer);
    if (metadata_.boolean(key("add_space_prefix")).value_or(false)) {
      parts_.normalizer.add(prepend_step(" "));
    }
    add_bos_ = family.add_bos;
    const auto* list = metadata_.strings(key("merges"));
    if (list == nullptr) return error(Code::kCorrupt, "it has no list of strings tokenizer.ggml.merges");
    MergeTable merges;
    for (size_t i = 0; i < list->size(); ++i) {
      const std::string_view merge = (*list)[i];
      const size_t space = merge.find(' ', 1);
      if (space == std::string_view::npos) {
        return error(Code::kCorrupt, "tokenizer.ggml.merges[{}] is \"{}\", not two pieces", i, merge);
      }
      KAPITSA_ASSIGN(const auto resolved, resolve_merge(parts_.vocab, merge.substr(0, space),
                                                        merge.substr(space + 1)));
      if (resolved) {
        merges.set(resolved->left, resolved->right, {static_cast<uint32_t>(i), resolved->joined});
      }
    }
    BpeModel::Options options;
    options.byte_level = true;
    options.ignore_merges = family.ignore_merges;
    parts_.model = std::make_unique<BpeModel>(options, spellable_pieces(parts_.vocab, true),
                                              std::move(merges), byte_tokens(parts_.vocab),
                                              parts_.vocab.size());
    parts_.decoder.steps.push_back({Decoder::Kind::kByteLevel, "", ""});
    return Status();
  }

  Status read_spm() {
    if (metadata_.boolean(key("remove_extra_whitespaces")).value_or(false)) {
      return error(Code::kUnsupported, "tokenizer.ggml.remove_extra_whitespaces is set");
    }
    const auto* scores = metadata_.numbers(key("scores"));
    if (scores == nullptr || scores->size() != parts_.vocab.size()) {
      return error(Code::kCorrupt, "tokenizer.ggml.scores has {} entries for {} tokens",
                   scores != nullptr ? scores->size() : 0, parts_.vocab.size());
    }
    std::vector<ScoredPiece> pieces;
    for (size_t i = 0; i < parts_.vocab.size(); ++i) {
      if (types_[i] == kControl || types_[i] == kUnknown || types_[i] == kByte) continue;
      const auto id = static_cast<TokenId>(i);
      pieces.push_back({id, parts_.vocab.piece(id), (*scores)[i]});
    }
    KAPITSA_ASSIGN(SpmMerges merges, spm_merges(pieces, parts_.vocab.size()));
    BpeModel::Options options;
    options.byte_fallback = true;
    options.fuse_unk = true;
    if (const auto unk = token("unknown_token_id")) options.unk = unk;
    parts_.model = std::make_unique<BpeModel>(options, std::move(merges.pieces),
                                              std::move(merges.merges), byte_tokens(parts_.vocab),
                                              parts_.vocab.size(), std::move(merges.missing));
    const bool prefix = metadata_.boolean(key("add_space_prefix")).value_or(true);
    if (prefix) parts_.normalizer.add(prepend_step("\u2581"));
    parts_.normalizer.add(replace_step(literal_splitter(" "), "\u2581"));
    parts_.decoder.steps = {{Decoder::Kind::kReplace, "\u2581", " "},
                            {Decoder::Kind::kByteFallback, "", ""}};
    parts_.decoder.strip_leading_space = prefix;
    add_bos_ = true;
    return Status();
  }

  std::optional<TokenId> token(std::string_view name) const {
    const auto id = metadata_.integer(key(name));
    if (!id || *id < 0 || static_cast<uint64_t>(*id) >= types_.size()) return std::nullopt;
    return static_cast<TokenId>(*id);
  }

  Status read_ends(Tokenizer& out) const {
    for (const std::string_view name :
         {"bos_token_id", "eos_token_id", "eot_token_id", "eom_token_id", "unknown_token_id"}) {
      const auto id = metadata_.integer(key(name));
      // Converters write -1 or 2^32 - 1 for "none".
      if (id && *id != -1 && *id != UINT32_MAX && !token(name)) {
        return error(Code::kCorrupt, "tokenizer.ggml.{} is {}, but there are {} tokens", name, *id,
                     types_.size());
      }
    }
    out.bos = token("bos_token_id");
    for (const std::string_view name : {"eos_token_id", "eot_token_id", "eom_token_id"}) {
      if (const auto id = token(name)) add_eos_id(out, *id);
    }
    add_known_ends(out);
    out.add_bos = metadata_.boolean(key("add_bos_token")).value_or(add_bos_) && out.bos;
    out.add_eos = metadata_.boolean(key("add_eos_token")).value_or(false) && !out.eos.empty();
    return Status();
  }

  const weights::Metadata& metadata_;
  TokenizerParts parts_;
  std::vector<GgufType> types_;
  bool add_bos_ = false;
};

}  // namespace

Result<std::unique_ptr<Tokenizer>> Tokenizer::from_gguf(const weights::Metadata& metadata) {
  auto result = Loader(metadata).load();
  if (!result.ok()) return result.status().in("the GGUF file's tokenizer");
  return result;
}

}  // namespace kapitsa::text
