// A tokenizer and a chat template small enough to be read: bytes, a few special tokens, ChatML.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "text/template/chat_template.h"
#include "text/token/tokenizer.h"

namespace kapitsa::test {

// Ids 0 to 255 are bytes; then <s>, <|im_start|>, <|im_end|>; then pieces that scripts use.
class ScriptedTokenizer : public text::Tokenizer {
 public:
  ScriptedTokenizer();

  // The id of a whole piece, which is added if it is new.
  text::TokenId add(const std::string& piece);
  // The text of a prompt, special tokens spelled out.
  std::string decode(const std::vector<text::TokenId>& ids) const;

  using text::Tokenizer::encode;
  Result<std::vector<text::TokenId>> encode(std::span<const text::Span> spans,
                                            const Cancel& cancel = {}) const override;
  size_t vocab_size() const override { return pieces_.size(); }
  std::string bytes(text::TokenId id) const override;
  std::string piece(text::TokenId id) const override { return bytes(id); }
  std::optional<text::TokenId> find(std::string_view piece) const override;
  bool is_special(text::TokenId id) const override { return id >= 256 && id <= 258; }

 private:
  std::vector<std::string> pieces_;
  std::map<std::string, text::TokenId, std::less<>> ids_;
};

// ChatML. enable_thinking opens <think> at the end; a message that says "raise" makes it fail, and so
// does system text that is not first (as some real templates do).
class ScriptedTemplate : public text::ChatTemplate {
 public:
  Result<std::string> render(const text::TemplateInput& input) const override;
  Result<std::vector<text::Span>> render_spans(const text::TemplateInput& input) const override;
  // The dialect's signs are what a source is looked at for.
  std::string_view source() const override { return signs; }
  bool mentions(std::string_view variable) const override { return variable == "enable_thinking"; }

  std::string signs;
};

}  // namespace kapitsa::test
