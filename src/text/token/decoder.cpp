#include "text/token/decoder.h"

#include "text/token/byte_alphabet.h"
#include "text/token/json_fields.h"

namespace kapitsa::text {
namespace {

constexpr std::string_view kWhere = "decoder";

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  size_t at = 0;
  for (size_t found; (found = text.find(from, at)) != std::string_view::npos;) {
    out.append(text.substr(at, found - at)).append(to);
    at = found + from.size();
  }
  return out.append(text.substr(at));
}

Status read(const Json& json, Decoder& out) {
  KAPITSA_ASSIGN(const std::string type, type_of(json, kWhere));
  if (type == "Sequence") {
    KAPITSA_ASSIGN(const Json* parts, sequence_field(json, "decoders", kWhere));
    for (const Json& part : *parts) KAPITSA_RETURN_IF_ERROR(read(part, out));
  } else if (type == "ByteLevel") {
    out.steps.push_back({Decoder::Kind::kByteLevel, "", ""});
  } else if (type == "ByteFallback") {
    out.steps.push_back({Decoder::Kind::kByteFallback, "", ""});
  } else if (type == "Fuse") {
    // Bytes are joined anyway.
  } else if (type == "Replace") {
    KAPITSA_ASSIGN(const PatternField pattern, pattern_field(json, kWhere));
    KAPITSA_ASSIGN(std::string content, string_field(json, "content", "", kWhere));
    if (pattern.is_regex) {
      return error(Code::kUnsupported, "decoder \"Replace\" has a Regex; a String is known");
    }
    if (!pattern.text.empty()) {
      out.steps.push_back({Decoder::Kind::kReplace, pattern.text, std::move(content)});
    }
  } else if (type == "Metaspace") {
    KAPITSA_ASSIGN(std::string replacement, string_field(json, "replacement", "\u2581", kWhere));
    KAPITSA_ASSIGN(const bool prefix, bool_field(json, "add_prefix_space", true, kWhere));
    KAPITSA_ASSIGN(const std::string scheme,
                   string_field(json, "prepend_scheme", prefix ? "always" : "never", kWhere));
    if (!replacement.empty()) out.steps.push_back({Decoder::Kind::kReplace, replacement, " "});
    out.strip_leading_space = scheme != "never";
  } else if (type == "Strip") {
    KAPITSA_ASSIGN(const std::string content, string_field(json, "content", "", kWhere));
    const Json& start = field(json, "start");
    const Json& stop = field(json, "stop");
    if (content != " " || !start.is_number_integer() || start > 1 || (!stop.is_null() && stop != 0)) {
      return error(Code::kUnsupported, "decoder \"Strip\" removes more than one leading space");
    }
    out.strip_leading_space = start == 1;
  } else {
    return error(Code::kUnsupported, "decoder \"{}\" is none that this build knows", type);
  }
  return Status();
}

}  // namespace

int byte_of_piece(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') return -1;
  int value = 0;
  for (const char c : piece.substr(3, 2)) {
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    if (digit < 0) return -1;
    value = 16 * value + digit;
  }
  return value;
}

std::string Decoder::bytes(std::string_view piece) const {
  std::string out(piece);
  for (const Step& step : steps) {
    switch (step.kind) {
      case Kind::kByteLevel:
        // A piece with a character that stands for no byte is plain text.
        if (auto raw = from_alphabet(out)) out = *std::move(raw);
        break;
      case Kind::kByteFallback:
        if (const int byte = byte_of_piece(out); byte >= 0) return std::string(1, char(byte));
        break;
      case Kind::kReplace:
        out = replace_all(out, step.from, step.to);
        break;
    }
  }
  return out;
}

Result<Decoder> read_decoder(const Json& json) {
  Decoder result;
  if (!json.is_null()) KAPITSA_RETURN_IF_ERROR(read(json, result));
  return result;
}

}  // namespace kapitsa::text
