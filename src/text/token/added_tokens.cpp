#include "text/token/added_tokens.h"

#include <algorithm>

#include "text/unicode/properties.h"
#include "text/unicode/utf8.h"

namespace kapitsa::text {
namespace {

bool word_before(std::string_view text, size_t at) {
  return at > 0 && is_word(decode(text, previous(text, at)).point);
}
bool word_after(std::string_view text, size_t at) {
  return at < text.size() && is_word(decode(text, at).point);
}

bool is_tag(std::string_view content) {
  return content.size() > 2 && ((content.front() == '<' && content.back() == '>') || (content.front() == '[' && content.back() == ']'));
}

}  // namespace

bool Trust::covers(size_t begin, size_t end) const {
  if (marks == nullptr) return all;
  return std::find(marks + begin, marks + end, '\0') == marks + end;
}

void AddedTokens::add(std::string_view pattern, AddedToken token) {
  if (pattern.empty()) return;
  // Files mark few of the tags as special: "</think>" and "<tool_response>" are not, and a tool's result that could
  // write them could begin a turn of its own.
  token.marks = token.special || is_tag(token.content);
  uint32_t node = 0;
  for (const unsigned char byte : pattern) {
    auto& next = nodes_[node].next;
    const auto at = std::lower_bound(next.begin(), next.end(), std::pair(byte, uint32_t{0}));
    if (at != next.end() && at->first == byte) {
      node = at->second;
    } else {
      const auto fresh = static_cast<uint32_t>(nodes_.size());
      next.insert(at, {byte, fresh});
      nodes_.emplace_back();
      node = fresh;
    }
  }
  if (nodes_[node].token >= 0) return;
  nodes_[node].token = static_cast<int32_t>(tokens_.size());
  starts_[static_cast<unsigned char>(pattern[0])] = true;
  tokens_.push_back(std::move(token));
}

std::pair<int32_t, size_t> AddedTokens::match(std::string_view text, size_t at, Trust trust) const {
  std::pair<int32_t, size_t> best{-1, at};
  uint32_t node = 0;
  for (size_t end = at; end < text.size();) {
    const auto& next = nodes_[node].next;
    const auto byte = static_cast<unsigned char>(text[end]);
    const auto found = std::lower_bound(next.begin(), next.end(), std::pair(byte, uint32_t{0}));
    if (found == next.end() || found->first != byte) break;
    node = found->second;
    ++end;
    const int32_t token = nodes_[node].token;
    if (token >= 0 && (!tokens_[token].marks || trust.covers(at, end))) best = {token, end};
  }
  return best;
}

std::vector<AddedTokens::Piece> AddedTokens::split(std::string_view text, Trust trust) const {
  std::vector<Piece> pieces;
  size_t done = 0;
  const auto ordinary = [&](size_t end) {
    if (done < end) pieces.push_back({done, end, -1});
  };
  for (size_t at = 0; at < text.size() && !empty();) {
    if (!starts_[static_cast<unsigned char>(text[at])]) {
      ++at;
      continue;
    }
    const auto [index, end] = match(text, at, trust);
    if (index < 0) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[index];
    const size_t found = at;
    at = end;
    if (token.single_word && (word_before(text, found) || word_after(text, end))) continue;
    size_t from = found, to = end;
    while (token.lstrip && from > done) {
      const size_t before = previous(text, from);
      if (!is_space(decode(text, before).point)) break;
      from = before;
    }
    while (token.rstrip && to < text.size()) {
      const Decoded c = decode(text, to);
      if (!is_space(c.point)) break;
      to += c.length;
    }
    // A match inside the white space that the one before took along counts too, and what follows it is
    // ordinary text again: so the library does it.
    ordinary(from);
    pieces.push_back({from, to, token.id});
    done = to;
  }
  ordinary(text.size());
  return pieces;
}

}  // namespace kapitsa::text
