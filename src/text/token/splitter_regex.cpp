// Patterns of no known family, by PCRE2.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>

#include "text/token/splitter.h"
#include "text/unicode/utf8.h"

namespace kapitsa::text {
namespace {

// A match that backtracks more often than this is given up. A word of a megabyte needs far less.
constexpr uint32_t kMatchLimit = 1'000'000;
constexpr size_t kJitStack = 1 << 20;
constexpr size_t kLongestPattern = 16384;

// What \w holds in Oniguruma, as the inside of a character class: PCRE2 leaves marks out.
constexpr std::string_view kWord =
    "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{B2}\\x{B3}\\x{B9}\\x{BC}-\\x{BE}\\x{24B6}-\\x{24E9}"
    "\\x{1F130}-\\x{1F149}\\x{1F150}-\\x{1F169}\\x{1F170}-\\x{1F189}";

Status foreign(std::string_view pattern, std::string_view what) {
  return error(Code::kUnsupported, "the pattern {} uses {}", pattern, what);
}

// The pattern as PCRE2 has to see it: tokenizer files are written for Oniguruma, which reads some
// constructs in another way. Those that have no short equal are refused.
Result<std::string> translate(std::string_view pattern) {
  std::string out;
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const std::string_view rest = pattern.substr(i);
    size_t length = 1;
    if (rest[0] == '\\') {
      const char escaped = rest.size() > 1 ? rest[1] : '\0';
      if (escaped == 'w' || (escaped == 'W' && !in_class)) {
        out += in_class ? kWord : fmt::format("[{}{}]", escaped == 'W' ? "^" : "", kWord);
        ++i;
        continue;
      }
      if (escaped == 'W') return foreign(pattern, "\\W in a character class");
      for (const std::string_view refused : {"\\h", "\\H", "\\b", "\\B"}) {
        if (refused[1] == escaped) return foreign(pattern, refused);
      }
      length = std::min<size_t>(2, rest.size());
    } else if (in_class) {
      if (rest.starts_with("&&")) return foreign(pattern, "&& in a character class");
      if (rest.starts_with("[:")) {
        const size_t close = rest.find(":]");
        if (close == std::string_view::npos) return foreign(pattern, "[: without :]");
        length = close + 2;
      } else if (rest[0] == '[') {
        return foreign(pattern, "a character class inside another");
      }
      if (rest[0] == ']') in_class = false;
    } else if (rest[0] == '[') {
      in_class = true;
      if (rest.starts_with("[^")) length = 2;
    } else if (rest.starts_with("(?")) {
      const std::string_view flags = rest.substr(2, rest.substr(2).find_first_not_of("imx-"));
      if (flags.find('m') != std::string_view::npos) return foreign(pattern, "(?m)");
    } else if (rest.starts_with("(*")) {
      return foreign(pattern, "(*");
    }
    out += rest.substr(0, length);
    i += length - 1;
  }
  return out;
}

// What one thread needs to match any pattern.
struct Scratch {
  pcre2_match_data* data = pcre2_match_data_create(1, nullptr);
  pcre2_match_context* context = pcre2_match_context_create(nullptr);
  pcre2_jit_stack* stack = pcre2_jit_stack_create(32 << 10, kJitStack, nullptr);
  Scratch() {
    pcre2_set_match_limit(context, kMatchLimit);
    pcre2_jit_stack_assign(context, nullptr, stack);
  }
  ~Scratch() {
    pcre2_jit_stack_free(stack);
    pcre2_match_context_free(context);
    pcre2_match_data_free(data);
  }
};

class RegexSplitter : public Splitter {
 public:
  RegexSplitter(pcre2_code* code, std::string pattern) : code_(code), pattern_(std::move(pattern)) {}
  ~RegexSplitter() override { pcre2_code_free(code_); }
  RegexSplitter(const RegexSplitter&) = delete;
  RegexSplitter& operator=(const RegexSplitter&) = delete;

  Status split(std::string_view text, std::vector<Part>& parts) const override {
    thread_local const Scratch scratch;
    const auto subject = reinterpret_cast<PCRE2_SPTR>(text.data());
    size_t gap = 0;
    for (size_t from = 0; from <= text.size();) {
      const int found = pcre2_match(code_, subject, text.size(), from, PCRE2_NO_UTF_CHECK,
                                    scratch.data, scratch.context);
      if (found == PCRE2_ERROR_NOMATCH) break;
      if (found < 0) {
        return error(Code::kInvalid,
                     "the tokenizer's pattern {} needs too many steps from byte {} of a text of {} "
                     "bytes (PCRE2 error {})",
                     pattern_, from, text.size(), found);
      }
      const size_t* range = pcre2_get_ovector_pointer(scratch.data);
      if (range[1] <= range[0]) {  // an empty match cuts, and the search goes on behind it
        if (range[0] > gap) parts.push_back({gap, range[0], false});
        gap = range[0];
        if (range[0] >= text.size()) break;
        from = range[0] + sequence_length(text[range[0]]);
        continue;
      }
      if (range[0] > gap) parts.push_back({gap, range[0], false});
      parts.push_back({range[0], range[1], true});
      gap = from = range[1];
    }
    if (gap < text.size()) parts.push_back({gap, text.size(), false});
    return Status();
  }

 private:
  pcre2_code* code_;
  std::string pattern_;
};

}  // namespace

Result<SplitterPtr> regex_splitter(const std::string& pattern) {
  if (pattern.size() > kLongestPattern) {
    return error(Code::kUnsupported, "the pattern has {} bytes, more than {}", pattern.size(),
                 kLongestPattern);
  }
  if (find_invalid_utf8(pattern)) return error(Code::kCorrupt, "the pattern is not UTF-8");
  KAPITSA_ASSIGN(const std::string translated, translate(pattern));
  int code = 0;
  size_t at = 0;
  // In the files' syntax ^ and $ match at every line.
  pcre2_compile_context* context = pcre2_compile_context_create(nullptr);
  pcre2_set_newline(context, PCRE2_NEWLINE_LF);
  pcre2_code* compiled =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &code, &at,
                    context);
  pcre2_compile_context_free(context);
  if (compiled == nullptr) {
    unsigned char reason[256] = {};
    pcre2_get_error_message(code, reason, sizeof reason);
    return error(Code::kUnsupported, "the pattern {} is not one for PCRE2: {} at byte {}", pattern,
                 reinterpret_cast<const char*>(reason), at);
  }
  pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE);  // without JIT it only is slower
  return SplitterPtr(std::make_shared<RegexSplitter>(compiled, pattern));
}

Result<NamedSplitter> splitter_for(const std::string& pattern) {
  static constexpr std::string_view kContractions = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|";
  static constexpr std::string_view kLlama =
      "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|"
      "\\s+(?!\\S)|\\s+";
  static constexpr std::string_view kQwen2 =
      "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|"
      "\\s+(?!\\S)|\\s+";
  static constexpr std::string_view kQwen35 =
      "[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|"
      "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
  if (pattern ==
      "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+") {
    return NamedSplitter{gpt2_splitter(), "gpt-2"};
  }
  if (std::string_view(pattern).starts_with(kContractions)) {
    const std::string_view rest = std::string_view(pattern).substr(kContractions.size());
    if (rest == kLlama) return NamedSplitter{cl100k_splitter(3, false), "llama-bpe"};
    if (rest == kQwen2) return NamedSplitter{cl100k_splitter(1, false), "qwen2"};
    if (rest == kQwen35) return NamedSplitter{cl100k_splitter(1, true), "qwen35"};
  }
  KAPITSA_ASSIGN(SplitterPtr splitter, regex_splitter(pattern));
  return NamedSplitter{std::move(splitter), "regex"};
}

}  // namespace kapitsa::text
