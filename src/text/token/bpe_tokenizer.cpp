#include "text/token/bpe_tokenizer.h"

#include <algorithm>

#include "text/unicode/utf8.h"

namespace kapitsa::text {
namespace {

// Positions in a word have 32 bits.
constexpr size_t kMaxText = size_t{1} << 30;

}  // namespace

Result<std::unique_ptr<BpeTokenizer>> BpeTokenizer::create(TokenizerParts parts) {
  std::unique_ptr<BpeTokenizer> result(new BpeTokenizer(std::move(parts)));
  for (const AddedToken& token : result->parts_.added) {
    if (!token.normalized) {
      result->raw_.add(token.content, token);
      continue;
    }
    std::string pattern = token.content;
    KAPITSA_RETURN_IF_ERROR(result->parts_.normalizer.apply(pattern, nullptr));
    result->normalized_.add(pattern, token);
  }
  return result;
}

Result<std::vector<TokenId>> BpeTokenizer::encode(std::span<const Span> spans,
                                                  const Cancel& cancel) const {
  if (spans.size() == 1) return encode_text(spans[0].text, {spans[0].trusted, nullptr}, cancel);
  std::string text, marks;
  for (const Span& span : spans) {
    text += span.text;
    marks.append(span.text.size(), span.trusted ? '\1' : '\0');
  }
  return encode_text(text, {false, marks.data()}, cancel);
}

Result<std::vector<TokenId>> BpeTokenizer::encode_text(std::string_view text, Trust trust,
                                                       const Cancel& cancel) const {
  if (text.size() > kMaxText) {
    return error(Code::kInvalid, "the text has {} bytes; at most {} are read at a time", text.size(), kMaxText);
  }
  if (const auto bad = find_invalid_utf8(text)) {
    return error(Code::kInvalid, "the text is not UTF-8 at byte {} of {}", *bad, text.size());
  }
  std::vector<TokenId> ids;
  ids.reserve(text.size() / 3);
  for (const AddedTokens::Piece& piece : raw_.split(text, trust)) {
    if (piece.id >= 0) {
      ids.push_back(piece.id);
    } else {
      KAPITSA_RETURN_IF_ERROR(encode_run(text.substr(piece.begin, piece.end - piece.begin),
                                         trust.from(piece.begin), piece.begin == 0, cancel, ids));
    }
  }
  return ids;
}

Status BpeTokenizer::encode_run(std::string_view run, Trust trust, bool starts_text,
                                const Cancel& cancel, std::vector<TokenId>& out) const {
  std::string text, marks;
  if (!parts_.normalizer.keeps(run)) {
    text = run;
    // Marks follow the text through the normalizer, so that nothing untrusted turns into a token there.
    const bool marked = trust.marks != nullptr && !normalized_.empty();
    if (marked) marks.assign(trust.marks, run.size());
    KAPITSA_RETURN_IF_ERROR(parts_.normalizer.apply(text, marked ? &marks : nullptr));
    if (marked) trust.marks = marks.data();
    run = text;
  }
  if (normalized_.empty()) return encode_words(run, starts_text, cancel, out);
  for (const AddedTokens::Piece& piece : normalized_.split(run, trust)) {
    if (piece.id >= 0) {
      out.push_back(piece.id);
    } else {
      KAPITSA_RETURN_IF_ERROR(encode_words(run.substr(piece.begin, piece.end - piece.begin),
                                           starts_text && piece.begin == 0, cancel, out));
    }
  }
  return Status();
}

Status BpeTokenizer::encode_words(std::string_view text, bool starts_text,
                                  const Cancel& cancel, std::vector<TokenId>& out) const {
  if (text.empty()) return Status();
  Words words(text, starts_text);
  KAPITSA_RETURN_IF_ERROR(parts_.pretokenizer.apply(words));
  for (size_t i = 0; i < words.ranges.size(); ++i) {
    if (i % 1024 == 0) KAPITSA_RETURN_IF_ERROR(cancel.status("cutting the text into tokens"));
    parts_.model->encode(words.word(i), cancel, out);
  }
  return cancel.status("cutting the text into tokens");
}

std::string BpeTokenizer::bytes(TokenId id) const {
  const std::string& piece = parts_.vocab.piece(id);
  return parts_.vocab.is_added(id) ? piece : parts_.decoder.bytes(piece);
}

std::optional<TokenId> BpeTokenizer::find(std::string_view piece) const {
  const TokenId id = parts_.vocab.find(piece);
  return id >= 0 ? std::optional(id) : std::nullopt;
}

}  // namespace kapitsa::text
