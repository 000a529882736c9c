#include "text/unicode/normalize.h"

#include <algorithm>
#include <span>
#include <vector>

#include "text/unicode/properties.h"
#include "text/unicode/utf8.h"

namespace kapitsa::text {
namespace {

// Hangul syllables are composed by arithmetic (Unicode standard, 3.12).
constexpr char32_t kSyllable = 0xAC00, kLead = 0x1100, kVowel = 0x1161, kTail = 0x11A7;
constexpr char32_t kLeads = 19, kVowels = 21, kTails = 28, kSyllables = kLeads * kVowels * kTails;

struct Char {
  char32_t point;
  uint8_t combining_class;
  char mark;
};

const table::Decomposition* find(std::span<const table::Decomposition> index, char32_t c) {
  const auto at = std::lower_bound(index.begin(), index.end(), c,
                                   [](const auto& entry, char32_t key) { return entry.point < key; });
  return at != index.end() && at->point == c ? &*at : nullptr;
}

void decompose(char32_t c, bool compatible, char mark, std::vector<Char>& out) {
  const auto put = [&](char32_t point) {
    out.push_back({point, record(point).combining_class, mark});
  };
  if (c < 0x80) return put(c);
  if (c >= kSyllable && c < kSyllable + kSyllables) {
    const char32_t index = c - kSyllable;
    put(kLead + index / (kVowels * kTails));
    put(kVowel + index % (kVowels * kTails) / kTails);
    if (index % kTails != 0) put(kTail + index % kTails);
    return;
  }
  const table::Decomposition* found = nullptr;
  const char32_t* pool = table::compatible_pool;
  if (compatible) found = find({table::compatible_index, table::compatible_count}, c);
  if (found == nullptr) {
    found = find({table::canonical_index, table::canonical_count}, c);
    pool = table::canonical_pool;
  }
  if (found == nullptr) return put(c);
  for (size_t i = 0; i < found->length; ++i) put(pool[found->offset + i]);
}

// 0 where the two do not compose.
char32_t compose(char32_t a, char32_t b) {
  if (a >= kLead && a < kLead + kLeads && b >= kVowel && b < kVowel + kVowels) {
    return kSyllable + ((a - kLead) * kVowels + (b - kVowel)) * kTails;
  }
  if (a >= kSyllable && a < kSyllable + kSyllables && (a - kSyllable) % kTails == 0 && b > kTail &&
      b < kTail + kTails) {
    return a + (b - kTail);
  }
  const std::span entries(table::compositions, table::composition_count);
  const auto at = std::lower_bound(entries.begin(), entries.end(), std::pair(a, b),
                                   [](const auto& entry, const auto& key) {
                                     return std::pair(entry.first, entry.second) < key;
                                   });
  return at != entries.end() && at->first == a && at->second == b ? at->composed : 0;
}

// Canonical ordering: each run of non-starters sorted by class, stably.
void reorder(std::vector<Char>& chars) {
  for (size_t i = 0; i < chars.size();) {
    if (chars[i].combining_class == 0) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < chars.size() && chars[end].combining_class != 0) ++end;
    std::stable_sort(chars.begin() + i, chars.begin() + end, [](const Char& a, const Char& b) {
      return a.combining_class < b.combining_class;
    });
    i = end;
  }
}

void recompose(std::vector<Char>& chars) {
  size_t out = 0;
  size_t starter = SIZE_MAX;
  int last_class = -1;  // of what was kept since the starter; -1: nothing was
  for (const Char c : std::vector<Char>(chars)) {
    if (starter != SIZE_MAX && last_class < static_cast<int>(c.combining_class)) {
      if (const char32_t composed = compose(chars[starter].point, c.point)) {
        chars[starter].point = composed;
        chars[starter].mark = std::min(chars[starter].mark, c.mark);
        continue;
      }
    }
    chars[out] = c;
    if (c.combining_class == 0) {
      starter = out;
      last_class = -1;
    } else {
      last_class = c.combining_class;
    }
    ++out;
  }
  chars.resize(out);
}

}  // namespace

bool is_surely_nfc(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0xC0) {
      ++at;
      continue;
    }
    const Decoded c = decode(text, at);
    if (record(c.point).touchy) return false;
    at += c.length;
  }
  return true;
}

std::string normalize(std::string_view text, Form form, std::string* marks) {
  const bool compatible = form == Form::kNfkc || form == Form::kNfkd;
  std::vector<Char> chars;
  chars.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Decoded c = decode(text, at);
    char mark = 0;
    if (marks != nullptr) mark = *std::min_element(&(*marks)[at], &(*marks)[at] + c.length);
    decompose(c.point, compatible, mark, chars);
    at += c.length;
  }
  reorder(chars);
  if (form == Form::kNfc || form == Form::kNfkc) recompose(chars);
  std::string out;
  out.reserve(text.size());
  if (marks != nullptr) marks->clear();
  for (const Char& c : chars) {
    append_utf8(out, c.point);
    if (marks != nullptr) marks->resize(out.size(), c.mark);
  }
  return out;
}

void append_lower(std::string& out, char32_t c) {
  if (c == 0x130) {  // the one character whose lower case is two
    append_utf8(out, 'i');
    append_utf8(out, 0x307);
    return;
  }
  const std::span entries(table::lower, table::lower_count);
  const auto at = std::lower_bound(entries.begin(), entries.end(), c,
                                   [](const auto& entry, char32_t key) { return entry.upper < key; });
  append_utf8(out, at != entries.end() && at->upper == c ? at->lower : c);
}

}  // namespace kapitsa::text
