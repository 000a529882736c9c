// Reads "pre_tokenizer".
#include "text/token/json_fields.h"
#include "text/token/pretokenizer.h"
#include "text/unicode/properties.h"
#include "text/unicode/utf8.h"

namespace kapitsa::text {
namespace {

constexpr std::string_view kWhere = "pre_tokenizer";

Result<Behavior> behavior_of(const Json& json) {
  KAPITSA_ASSIGN(const std::string name, string_field(json, "behavior", "Isolated", kWhere));
  if (name == "Removed") return Behavior::kRemoved;
  if (name == "Isolated") return Behavior::kIsolated;
  if (name == "MergedWithPrevious") return Behavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return Behavior::kMergedWithNext;
  if (name == "Contiguous") return Behavior::kContiguous;
  return error(Code::kUnsupported, "pre_tokenizer.behavior is \"{}\", which this build does not know",
               name);
}

bool is_number_character(char32_t c) { return is_number(category(c)); }

bool is_punctuation_character(char32_t c) {
  const bool ascii = (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
                     (c >= '{' && c <= '~');
  return ascii || is_punctuation(category(c));
}

class Reader {
 public:
  Status read(const Json& json) {
    KAPITSA_ASSIGN(const std::string type, type_of(json, kWhere));
    if (type == "Sequence") {
      KAPITSA_ASSIGN(const Json* parts, sequence_field(json, "pretokenizers", kWhere));
      for (const Json& part : *parts) KAPITSA_RETURN_IF_ERROR(read(part));
      return Status();
    }
    if (type == "ByteLevel") return read_byte_level(json);
    if (type == "Metaspace") return read_metaspace(json);
    bytes_to_characters();
    if (type == "Split") return read_split(json);
    if (type == "Digits") {
      KAPITSA_ASSIGN(const bool each, bool_field(json, "individual_digits", false, kWhere));
      add(character_splitter(is_number_character),
          each ? Behavior::kIsolated : Behavior::kContiguous, "digits");
    } else if (type == "Punctuation") {
      KAPITSA_ASSIGN(const Behavior behavior, behavior_of(json));
      add(character_splitter(is_punctuation_character), behavior, "punctuation");
    } else if (type == "Whitespace") {
      result_.add(split_step(word_splitter(), Behavior::kRemoved, true), "whitespace");
    } else if (type == "WhitespaceSplit") {
      add(character_splitter(is_space), Behavior::kRemoved, "whitespace split");
    } else {
      return error(Code::kUnsupported, "pre_tokenizer \"{}\" is none that this build knows", type);
    }
    return Status();
  }

  Result<PreTokenizer> finish() {
    if (as_characters_) result_.add(from_alphabet_step(), "");
    return std::move(result_);
  }

 private:
  void add(SplitterPtr splitter, Behavior behavior, std::string_view name) {
    result_.add(split_step(std::move(splitter), behavior, false), name);
  }

  // Steps after ByteLevel see the characters that stand for bytes.
  void bytes_to_characters() {
    if (!result_.byte_level || as_characters_) return;
    result_.add(to_alphabet_step(), "");
    as_characters_ = true;
  }

  Status read_split(const Json& json) {
    KAPITSA_ASSIGN(const PatternField pattern, pattern_field(json, kWhere));
    KAPITSA_ASSIGN(const Behavior behavior, behavior_of(json));
    KAPITSA_ASSIGN(const bool invert, bool_field(json, "invert", false, kWhere));
    NamedSplitter found{nullptr, "literal"};
    if (pattern.is_regex) {
      KAPITSA_ASSIGN(found, splitter_for(pattern.text));
    } else {
      found.splitter = literal_splitter(pattern.text);
    }
    result_.add(split_step(found.splitter, behavior, invert), found.name);
    return Status();
  }

  Status read_byte_level(const Json& json) {
    if (result_.byte_level) {
      return error(Code::kUnsupported, "pre_tokenizer has two ByteLevel steps; one is known");
    }
    KAPITSA_ASSIGN(const bool prefix, bool_field(json, "add_prefix_space", true, kWhere));
    KAPITSA_ASSIGN(const bool use_regex, bool_field(json, "use_regex", true, kWhere));
    if (prefix) result_.add(space_prefix_step(), "");
    if (use_regex) add(gpt2_splitter(), Behavior::kIsolated, "gpt-2");
    result_.byte_level = true;
    return Status();
  }

  Status read_metaspace(const Json& json) {
    if (result_.byte_level) {
      return error(Code::kUnsupported, "pre_tokenizer has Metaspace after ByteLevel");
    }
    KAPITSA_ASSIGN(const std::string replacement,
                   string_field(json, "replacement", "\u2581", kWhere));
    if (replacement.empty() || decode(replacement, 0).length != replacement.size()) {
      return error(Code::kCorrupt, "pre_tokenizer.replacement has {} bytes; it must be one character",
                   replacement.size());
    }
    // Files from before prepend_scheme say add_prefix_space.
    KAPITSA_ASSIGN(const bool prefix, bool_field(json, "add_prefix_space", true, kWhere));
    KAPITSA_ASSIGN(const std::string scheme,
                   string_field(json, "prepend_scheme", prefix ? "always" : "never", kWhere));
    KAPITSA_ASSIGN(const bool split, bool_field(json, "split", true, kWhere));
    Prepend prepend = Prepend::kAlways;
    if (scheme == "first") {
      prepend = Prepend::kFirst;
    } else if (scheme == "never") {
      prepend = Prepend::kNever;
    } else if (scheme != "always") {
      return error(Code::kUnsupported, "pre_tokenizer.prepend_scheme is \"{}\"; known are always, "
                   "first and never", scheme);
    }
    result_.add(metaspace_step(replacement, prepend, split), "metaspace");
    return Status();
  }

  PreTokenizer result_;
  bool as_characters_ = false;
};

}  // namespace

Result<PreTokenizer> read_pretokenizer(const Json& json) {
  Reader reader;
  if (!json.is_null()) KAPITSA_RETURN_IF_ERROR(reader.read(json));
  return reader.finish();
}

}  // namespace kapitsa::text
