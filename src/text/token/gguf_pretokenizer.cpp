#include "text/token/gguf_pretokenizer.h"

#include <algorithm>

#include "text/unicode/properties.h"

namespace kapitsa::text {
namespace {

bool is_number_character(char32_t c) { return is_number(category(c)); }

void split(GgufFamily& family, SplitterPtr splitter, std::string_view name = "") {
  family.pretokenizer.add(split_step(std::move(splitter), Behavior::kIsolated, false), name);
}

bool one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Result<GgufFamily> gguf_family(const std::string& pre) {
  GgufFamily family;
  family.pretokenizer.byte_level = true;
  if (one_of(pre, {"gpt-2", "mpt"})) {
    split(family, gpt2_splitter(), "gpt-2");
  } else if (one_of(pre, {"llama-bpe", "llama3", "llama-v3"})) {
    split(family, cl100k_splitter(3, false), "llama-bpe");
    family.ignore_merges = true;
    family.add_bos = true;
  } else if (one_of(pre, {"qwen2", "deepseek-r1-qwen"})) {
    split(family, cl100k_splitter(1, false), "qwen2");
    // Qwen's own files normalize; the distilled models' do not.
    if (pre == "qwen2") family.normalizer.add(form_step(Form::kNfc));
  } else if (pre == "qwen35") {
    split(family, cl100k_splitter(1, true), "qwen35");  // marks stay apart: no normalization
  } else if (one_of(pre, {"smollm", "starcoder", "refact"})) {
    split(family, character_splitter(is_number_character), "digits");
    split(family, gpt2_splitter(), "gpt-2");
  } else if (pre == "default") {
    KAPITSA_ASSIGN(SplitterPtr punctuation, regex_splitter("[\\p{P}\\$\\+<=>\\^~\\|]+"));
    KAPITSA_ASSIGN(SplitterPtr numbers, regex_splitter("\\p{N}+"));
    KAPITSA_ASSIGN(SplitterPtr triples, regex_splitter("[0-9][0-9][0-9]"));
    split(family, punctuation, "default");
    split(family, gpt2_splitter());
    split(family, numbers);
    split(family, triples);
  } else {
    return error(Code::kUnsupported,
                 "tokenizer.ggml.pre is \"{}\"; known are gpt-2, mpt, llama-bpe, llama3, llama-v3, "
                 "qwen2, deepseek-r1-qwen, qwen35, smollm, starcoder, refact and default",
                 pre);
  }
  return family;
}

}  // namespace kapitsa::text
