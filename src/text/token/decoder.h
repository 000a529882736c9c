// From a vocabulary's spelling of a token to the bytes it adds: the decoder of a tokenizer.json.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/status.h"

namespace kapitsa::text {

class Decoder {
 public:
  enum class Kind { kByteLevel, kByteFallback, kReplace };
  struct Step {
    Kind kind;
    std::string from, to;  // of kReplace
  };

  std::string bytes(std::string_view piece) const;

  std::vector<Step> steps;
  // The first space of a text is not shown.
  bool strip_leading_space = false;
};

// The byte that "<0x0A>" names; -1 for any other spelling.
int byte_of_piece(std::string_view piece);

// `json`: the value of "decoder", null for none.
Result<Decoder> read_decoder(const Json& json);

}  // namespace kapitsa::text
