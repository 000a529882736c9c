// Added tokens: spelled in the text as they are, found before anything else looks at it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/token/tokenizer.h"

namespace kapitsa::text {

struct AddedToken {
  TokenId id = -1;
  std::string content;
  bool single_word = false;  // not next to a word character
  bool lstrip = false;       // takes the white space before it along
  bool rstrip = false;       // and behind it
  bool normalized = false;   // looked for in normalized text
  bool special = false;      // a control token: never shown
  bool marks = false;        // structures a prompt, as control tokens and tags do: found only where the text is trusted
};

// Which bytes of a text a template wrote. `marks`: a byte each, not 0 where trusted; null where `all`
// says it of the whole text.
struct Trust {
  bool all = false;
  const char* marks = nullptr;
  bool covers(size_t begin, size_t end) const;
  Trust from(size_t begin) const { return {all, marks != nullptr ? marks + begin : nullptr}; }
};

class AddedTokens {
 public:
  // `pattern`: what is looked for, normally token.content; an empty one is never found.
  void add(std::string_view pattern, AddedToken token);
  bool empty() const { return tokens_.empty(); }

  // An added token, or (id -1) ordinary text between two; never empty.
  struct Piece {
    size_t begin, end;
    TokenId id;
  };
  // Cuts `text`: the leftmost match first, of several there the longest.
  std::vector<Piece> split(std::string_view text, Trust trust) const;

 private:
  struct Node {
    std::vector<std::pair<unsigned char, uint32_t>> next;  // sorted by byte
    int32_t token = -1;                                    // into tokens_
  };
  // The longest token at text[at] that `trust` allows: its index and end; index -1 for none.
  std::pair<int32_t, size_t> match(std::string_view text, size_t at, Trust trust) const;

  std::vector<AddedToken> tokens_;
  std::vector<Node> nodes_ = std::vector<Node>(1);
  bool starts_[256] = {};  // the bytes that some token begins with
};

}  // namespace kapitsa::text
