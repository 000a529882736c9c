// Text <-> token ids, equal to the Hugging Face library on the same files.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/json.h"
#include "base/status.h"
#include "weights/metadata.h"

namespace kapitsa::text {

using TokenId = int32_t;

// A piece of prompt text. What a template wrote may contain special tokens; what a user typed never
// becomes one, whatever it spells.
struct Span {
  std::string text;
  bool trusted = false;  // true: written by the template, special tokens are recognised
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // tokenizer.json, with tokenizer_config.json's bos/eos facts where given (else null).
  static Result<std::unique_ptr<Tokenizer>> from_json(const Json& tokenizer, const Json& config);
  // The tokenizer.ggml.* keys of a GGUF header.
  static Result<std::unique_ptr<Tokenizer>> from_gguf(const weights::Metadata& metadata);

  // Ids of the concatenated spans. Adds no BOS or EOS by itself. Pre-tokenisation sees each run of
  // neighbouring ordinary text whole, across span borders. Errors: invalid UTF-8, with its byte
  // position; that of `cancel`.
  virtual Result<std::vector<TokenId>> encode(std::span<const Span> spans,
                                              const Cancel& cancel = {}) const = 0;
  Result<std::vector<TokenId>> encode(std::string_view text, bool trusted,
                                      const Cancel& cancel = {}) const {
    const Span span{std::string(text), trusted};
    return encode(std::span(&span, 1), cancel);
  }

  virtual size_t vocab_size() const = 0;
  // The bytes a token adds to the output; may be part of a UTF-8 character. Empty for an id that the
  // vocabulary does not have. Special tokens give their own spelling.
  virtual std::string bytes(TokenId id) const = 0;
  // As stored in the vocabulary ("Ġhello", "▁hello", "<0x0A>").
  virtual std::string piece(TokenId id) const = 0;
  virtual std::optional<TokenId> find(std::string_view piece) const = 0;
  // A control token (end of turn, BOS, ...): not shown to a user.
  virtual bool is_special(TokenId id) const = 0;

  // From the files; nullopt / empty where they do not say.
  std::optional<TokenId> bos;
  std::vector<TokenId> eos;      // every id that ends a generation
  bool add_bos = false;          // raw text is meant to start with BOS
  bool add_eos = false;
  // SentencePiece-style: the first piece's leading space is not shown at the start of a text.
  bool strip_leading_space = false;

  // A one-line description for `show`: "BPE, 151,643 tokens + 26 added, pre-tokenizer qwen2".
  std::string description;
};

// Turns a stream of tokens into valid UTF-8 pieces: holds back the bytes of a character that is not
// complete yet.
class Detokenizer {
 public:
  // at_start: the tokens begin a text (matters for strip_leading_space).
  Detokenizer(const Tokenizer& tokenizer, bool at_start);
  // The text that `id` completes; may be empty. Bytes that can never become UTF-8 turn into U+FFFD.
  std::string push(TokenId id);
  // What is still held back, as U+FFFD, at the end of the stream.
  std::string finish();

 private:
  const Tokenizer& tokenizer_;
  std::string held_;
  bool at_start_;
};

}  // namespace kapitsa::text
