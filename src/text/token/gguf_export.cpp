#include "text/token/gguf_export.h"

#include <algorithm>

#include "text/token/gguf_pretokenizer.h"
#include "text/token/json_fields.h"
#include "text/token/json_model.h"
#include "text/token/normalizer.h"
#include "text/token/pretokenizer.h"

namespace kapitsa::text {
namespace {

// tokenizer.ggml.token_type
enum GgufType : int64_t { kNormal = 1, kUnknown, kControl, kUserDefined, kUnused, kByte };

class Exporter {
 public:
  Exporter(const Json& tokenizer, const Json& config, const Tokenizer& loaded, int64_t rows, const std::string& pre)
      : json_(tokenizer), config_(config), loaded_(loaded), rows_(rows), pre_(pre) {}

  Result<weights::Metadata> run() {
    KAPITSA_RETURN_IF_ERROR(read_vocab(field(json_, "model"), vocab_));
    KAPITSA_ASSIGN(added_, read_added_tokens(field(json_, "added_tokens"), vocab_));
    KAPITSA_ASSIGN(merges_, read_merges());
    KAPITSA_ASSIGN(const PreTokenizer pre, read_pretokenizer(field(json_, "pre_tokenizer")));
    set_tokens();
    if (pre.byte_level) {
      std::string word = pre_;
      if (word.empty()) {
        KAPITSA_ASSIGN(word, pre_word(pre));
      }
      set("model", std::string("gpt2"));
      set("pre", std::move(word));
      set("merges", std::move(merges_));
    } else {
      KAPITSA_RETURN_IF_ERROR(set_scores());
    }
    set("token_type", std::move(types_));
    set_ends();
    return std::move(out_);
  }

 private:
  void set(std::string_view key, weights::Value value) { out_.set(fmt::format("tokenizer.ggml.{}", key), std::move(value)); }

  Result<std::vector<std::string>> read_merges() const {
    std::vector<std::string> merges;
    const Json& list = field(field(json_, "model"), "merges");
    if (!list.is_array()) return error(Code::kCorrupt, "model.merges is missing or not a list");
    for (const Json& merge : list) {
      if (merge.is_string()) merges.push_back(merge.get<std::string>());
      else if (merge.is_array() && merge.size() == 2) merges.push_back(merge[0].get<std::string>() + " " + merge[1].get<std::string>());
      else return error(Code::kCorrupt, "model.merges[{}] is not two pieces", merges.size());
    }
    return merges;
  }

  void set_tokens() {
    const auto count = std::max(rows_, static_cast<int64_t>(vocab_.size()));
    std::vector<std::string> tokens;
    for (int64_t id = 0; id < count; ++id) {
      const auto token = static_cast<TokenId>(id);
      const bool there = vocab_.has(token);
      tokens.push_back(there ? vocab_.piece(token) : fmt::format("[PAD{}]", id));
      types_.push_back(there ? kNormal : kUnused);
    }
    for (const AddedToken& token : added_) types_[static_cast<size_t>(token.id)] = token.special ? kControl : kUserDefined;
    set("tokens", std::move(tokens));
  }

  // The word of the family that splits and normalizes as this tokenizer does.
  Result<std::string> pre_word(const PreTokenizer& pre) const {
    KAPITSA_ASSIGN(const Normalizer normalizer, read_normalizer(field(json_, "normalizer")));
    const bool plain = normalizer.empty();
    KAPITSA_ASSIGN(const bool whole_words, bool_field(field(json_, "model"), "ignore_merges", false, "model"));
    if (!whole_words && pre.name == "qwen2") return std::string(plain ? "deepseek-r1-qwen" : "qwen2");
    if (!whole_words && pre.name == "qwen35") return pre.name;
    if (!whole_words && plain && pre.name == "gpt-2") return pre.name;
    if (!whole_words && plain && pre.name == "digits + gpt-2") return std::string("smollm");
    if (whole_words && plain && pre.name == "llama-bpe") return pre.name;
    return error(Code::kUnsupported, "a GGUF has no word for this pre-tokenizer ({}{}{}); name the nearest: gpt-2, llama-bpe, qwen2, qwen35 or smollm",
                 pre.name, plain ? "" : ", normalized", whole_words ? ", words whole" : "");
  }

  // SentencePiece: the pair that makes the piece of the highest score is merged first; scores fall with the merges' ranks.
  Status set_scores() {
    // Pieces that no merge makes would be made of any two parts that fit: after all others.
    const double last = -1.0 - static_cast<double>(merges_.size());
    std::vector<double> scores(types_.size(), last);
    for (size_t rank = 0; rank < merges_.size(); ++rank) {
      const std::string& merge = merges_[rank];
      std::string joined = merge;
      const size_t space = merge.find(' ', 1);
      if (space == std::string::npos) return error(Code::kCorrupt, "model.merges[{}] is \"{}\", not two pieces", rank, merge);
      joined.erase(space, 1);
      const TokenId id = vocab_.find(joined);
      // Of several merges that make a piece the first one counts.
      if (id >= 0 && scores[static_cast<size_t>(id)] == last) scores[static_cast<size_t>(id)] = -1.0 - static_cast<double>(rank);
    }
    const auto bytes = byte_tokens(vocab_);
    for (const TokenId id : bytes) {
      if (id >= 0) types_[static_cast<size_t>(id)] = kByte;
    }
    const Json& unk = field(field(json_, "model"), "unk_token");
    if (const TokenId id = unk.is_string() ? vocab_.find(unk.get<std::string>()) : -1; id >= 0) {
      types_[static_cast<size_t>(id)] = kUnknown;
      set("unknown_token_id", int64_t{id});
    }
    set("model", std::string("llama"));
    set("pre", std::string("default"));
    set("scores", std::move(scores));
    set("add_space_prefix", loaded_.strip_leading_space);
    return {};
  }

  // The id of a token that tokenizer_config.json names, plainly or as an object.
  std::optional<int64_t> named(std::string_view key) const {
    const Json& value = field(config_, key);
    const Json& name = value.is_object() ? field(value, "content") : value;
    const TokenId id = name.is_string() ? vocab_.find(name.get<std::string>()) : -1;
    return id >= 0 ? std::optional<int64_t>(id) : std::nullopt;
  }

  void set_ends() {
    if (loaded_.bos) set("bos_token_id", int64_t{*loaded_.bos});
    auto eos = named("eos_token");
    if (!eos && !loaded_.eos.empty()) eos = loaded_.eos.front();
    if (eos) set("eos_token_id", *eos);
    // One more end of a turn; readers find the known ones by their spelling.
    for (const TokenId id : loaded_.eos) {
      if (eos && id != *eos && !out_.has("tokenizer.ggml.eot_token_id")) set("eot_token_id", int64_t{id});
    }
    if (const auto pad = named("pad_token")) set("padding_token_id", *pad);
    set("add_bos_token", loaded_.add_bos);
    if (loaded_.add_eos) set("add_eos_token", true);
  }

  const Json& json_;
  const Json& config_;
  const Tokenizer& loaded_;
  int64_t rows_;
  const std::string& pre_;
  Vocab vocab_;
  std::vector<AddedToken> added_;
  std::vector<std::string> merges_;
  std::vector<int64_t> types_;
  weights::Metadata out_;
};

}  // namespace

Result<weights::Metadata> gguf_tokenizer_keys(const Json& tokenizer, const Json& config, const Tokenizer& loaded, int64_t rows,
                                              const std::string& pre) {
  auto keys = Exporter(tokenizer, config, loaded, rows, pre).run();
  if (!keys.ok()) return keys.status().in("tokenizer.json");
  return keys;
}

}  // namespace kapitsa::text
