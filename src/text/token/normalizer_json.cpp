// Reads "normalizer".
#include "text/token/json_fields.h"
#include "text/token/normalizer.h"

namespace kapitsa::text {
namespace {

constexpr std::string_view kWhere = "normalizer";
// Bytes of what a step puts in; real ones have one character.
constexpr size_t kMaxContent = 64;

Result<std::string> content_field(const Json& json, std::string_view key) {
  KAPITSA_ASSIGN(std::string content, string_field(json, key, "", kWhere));
  if (content.size() > kMaxContent) {
    return error(Code::kUnsupported, "normalizer.{} has {} bytes; at most {} are taken", key, content.size(),
                 kMaxContent);
  }
  return content;
}

Status read(const Json& json, Normalizer& out) {
  KAPITSA_ASSIGN(const std::string type, type_of(json, kWhere));
  if (type == "Sequence") {
    KAPITSA_ASSIGN(const Json* parts, sequence_field(json, "normalizers", kWhere));
    for (const Json& part : *parts) KAPITSA_RETURN_IF_ERROR(read(part, out));
  } else if (type == "NFC") {
    out.add(form_step(Form::kNfc));
  } else if (type == "NFD") {
    out.add(form_step(Form::kNfd));
  } else if (type == "NFKC") {
    out.add(form_step(Form::kNfkc));
  } else if (type == "NFKD") {
    out.add(form_step(Form::kNfkd));
  } else if (type == "Lowercase") {
    out.add(lowercase_step());
  } else if (type == "Prepend") {
    KAPITSA_ASSIGN(std::string content, content_field(json, "prepend"));
    out.add(prepend_step(std::move(content)));
  } else if (type == "Strip") {
    KAPITSA_ASSIGN(const bool left, bool_field(json, "strip_left", true, kWhere));
    KAPITSA_ASSIGN(const bool right, bool_field(json, "strip_right", true, kWhere));
    out.add(strip_step(left, right));
  } else if (type == "Replace") {
    KAPITSA_ASSIGN(const PatternField pattern, pattern_field(json, kWhere));
    KAPITSA_ASSIGN(std::string content, content_field(json, "content"));
    SplitterPtr splitter;
    if (pattern.is_regex) {
      KAPITSA_ASSIGN(splitter, regex_splitter(pattern.text));
    } else {
      splitter = literal_splitter(pattern.text);
    }
    out.add(replace_step(std::move(splitter), std::move(content)));
  } else {
    return error(Code::kUnsupported, "normalizer \"{}\" is none that this build knows", type);
  }
  return Status();
}

}  // namespace

Result<Normalizer> read_normalizer(const Json& json) {
  Normalizer result;
  if (!json.is_null()) KAPITSA_RETURN_IF_ERROR(read(json, result));
  return result;
}

}  // namespace kapitsa::text
