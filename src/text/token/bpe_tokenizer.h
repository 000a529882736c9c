// The tokenizer that every file format leads to: added tokens, normalizer, pre-tokenizer, BPE.
#pragma once

#include <memory>

#include "text/token/added_tokens.h"
#include "text/token/bpe_model.h"
#include "text/token/decoder.h"
#include "text/token/normalizer.h"
#include "text/token/pretokenizer.h"
#include "text/token/tokenizer.h"
#include "text/token/vocab.h"

namespace kapitsa::text {

// What a loader reads from a file.
struct TokenizerParts {
  Vocab vocab;  // with the added tokens, marked
  std::vector<AddedToken> added;
  Normalizer normalizer;
  PreTokenizer pretokenizer;
  std::unique_ptr<BpeModel> model;
  Decoder decoder;
};

class BpeTokenizer : public Tokenizer {
 public:
  static Result<std::unique_ptr<BpeTokenizer>> create(TokenizerParts parts);

  using Tokenizer::encode;
  Result<std::vector<TokenId>> encode(std::span<const Span> spans,
                                      const Cancel& cancel = {}) const override;
  size_t vocab_size() const override { return parts_.vocab.size(); }
  std::string bytes(TokenId id) const override;
  std::string piece(TokenId id) const override { return parts_.vocab.piece(id); }
  std::optional<TokenId> find(std::string_view piece) const override;
  bool is_special(TokenId id) const override { return parts_.vocab.is_special(id); }

 private:
  explicit BpeTokenizer(TokenizerParts parts) : parts_(std::move(parts)) {}
  Result<std::vector<TokenId>> encode_text(std::string_view text, Trust trust,
                                           const Cancel& cancel) const;
  // Ordinary text between two added tokens.
  Status encode_run(std::string_view run, Trust trust, bool starts_text, const Cancel& cancel,
                    std::vector<TokenId>& out) const;
  Status encode_words(std::string_view text, bool starts_text, const Cancel& cancel,
                      std::vector<TokenId>& out) const;

  TokenizerParts parts_;
  AddedTokens raw_;         // found in the text as it is
  AddedTokens normalized_;  // found in normalized text
};

}  // namespace kapitsa::text
