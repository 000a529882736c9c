// The words of a GGUF file's tokenizer.ggml.pre.
#pragma once

#include <string>

#include "base/status.h"
#include "text/token/normalizer.h"
#include "text/token/pretokenizer.h"

namespace kapitsa::text {

struct GgufFamily {
  PreTokenizer pretokenizer;  // byte-level
  Normalizer normalizer;
  bool ignore_merges = false;
  bool add_bos = false;  // where the file does not say
};

// Unsupported, with the name, for a family that this build does not know.
Result<GgufFamily> gguf_family(const std::string& pre);

}  // namespace kapitsa::text
