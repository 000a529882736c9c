// tokenizer.json and tokenizer_config.json.
#include "text/token/bpe_tokenizer.h"
#include "text/token/byte_alphabet.h"
#include "text/token/end_tokens.h"
#include "text/token/json_fields.h"
#include "text/token/json_model.h"

namespace kapitsa::text {
namespace {

// BOS and EOS that the post_processor would add.
struct Template {
  std::optional<TokenId> bos, eos;
};

Status read_template(const Json& json, const Vocab& vocab, Template& out) {
  if (json.is_null()) return Status();
  constexpr std::string_view kWhere = "post_processor";
  KAPITSA_ASSIGN(const std::string type, type_of(json, kWhere));
  if (type == "Sequence") {
    KAPITSA_ASSIGN(const Json* parts, sequence_field(json, "processors", kWhere));
    for (const Json& part : *parts) KAPITSA_RETURN_IF_ERROR(read_template(part, vocab, out));
    return Status();
  }
  if (type == "ByteLevel") return Status();
  if (type != "TemplateProcessing") {
    return error(Code::kUnsupported, "post_processor \"{}\" is none that this build knows", type);
  }
  KAPITSA_ASSIGN(const Json* single, sequence_field(json, "single", kWhere));
  const auto token = [&](const Json& item) -> std::optional<TokenId> {
    const Json& name = field(field(item, "SpecialToken"), "id");
    if (!name.is_string()) return std::nullopt;
    const TokenId id = vocab.find(name.get_ref<const std::string&>());
    return id >= 0 ? std::optional(id) : std::nullopt;
  };
  if (single->size() > 1) {
    out.bos = token(single->front());
    out.eos = token(single->back());
  }
  return Status();
}

// A token that tokenizer_config.json names, plainly or as an object.
std::optional<TokenId> config_token(const Json& config, std::string_view key, const Vocab& vocab) {
  const Json& value = field(config, key);
  const Json& name = value.is_object() ? field(value, "content") : value;
  if (!name.is_string()) return std::nullopt;
  const TokenId id = vocab.find(name.get_ref<const std::string&>());
  return id >= 0 ? std::optional(id) : std::nullopt;
}

Result<std::unique_ptr<Tokenizer>> load(const Json& json, const Json& config) {
  TokenizerParts parts;
  if (!json.is_object()) {
    return error(Code::kCorrupt, "it is a {}, not an object", json.type_name());
  }
  const Json& model = field(json, "model");
  KAPITSA_RETURN_IF_ERROR(read_vocab(model, parts.vocab));
  const size_t model_tokens = parts.vocab.count();
  KAPITSA_ASSIGN(parts.added, read_added_tokens(field(json, "added_tokens"), parts.vocab));
  KAPITSA_ASSIGN(parts.normalizer, read_normalizer(field(json, "normalizer")));
  KAPITSA_ASSIGN(parts.pretokenizer, read_pretokenizer(field(json, "pre_tokenizer")));
  KAPITSA_ASSIGN(parts.decoder, read_decoder(field(json, "decoder")));
  KAPITSA_ASSIGN(parts.model, read_model(model, parts.vocab, parts.pretokenizer.byte_level));
  Template around;
  KAPITSA_RETURN_IF_ERROR(read_template(field(json, "post_processor"), parts.vocab, around));

  std::string description = fmt::format("BPE, {} tokens + {} added, pre-tokenizer {}", model_tokens,
                                        parts.vocab.count() - model_tokens, parts.pretokenizer.name);
  const auto bos = config_token(config, "bos_token", parts.vocab);
  const auto eos = config_token(config, "eos_token", parts.vocab);
  const bool strip = parts.decoder.strip_leading_space;
  KAPITSA_ASSIGN(const bool add_bos, bool_field(config, "add_bos_token", around.bos.has_value(),
                                                "tokenizer_config.json"));
  KAPITSA_ASSIGN(const bool add_eos, bool_field(config, "add_eos_token", around.eos.has_value(),
                                                "tokenizer_config.json"));
  KAPITSA_ASSIGN(auto result, BpeTokenizer::create(std::move(parts)));
  result->description = std::move(description);
  result->strip_leading_space = strip;
  result->bos = bos ? bos : around.bos;
  if (eos) add_eos_id(*result, *eos);
  if (around.eos) add_eos_id(*result, *around.eos);
  add_known_ends(*result);
  result->add_bos = add_bos && result->bos;
  result->add_eos = add_eos && !result->eos.empty();
  return std::unique_ptr<Tokenizer>(std::move(result));
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> Tokenizer::from_json(const Json& tokenizer, const Json& config) {
  auto result = load(tokenizer, config);
  if (!result.ok()) return result.status().in("tokenizer.json");
  return result;
}

}  // namespace kapitsa::text
