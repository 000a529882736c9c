// What kind of character a code point is (Unicode 16.0, as Oniguruma and Rust see it).
#pragma once

#include "text/unicode/table.h"

namespace kapitsa::text {

inline const table::Record& record(char32_t c) {
  constexpr char32_t kLow = (1 << table::kBlockBits) - 1;
  if (c > 0x10FFFF) c = 0xFFFF;  // a noncharacter: unassigned
  return table::records[table::stage2[table::stage1[c >> table::kBlockBits] << table::kBlockBits |
                                      (c & kLow)]];
}

inline Category category(char32_t c) { return record(c).category; }

inline bool in_group(Category c, Category first, Category last) { return first <= c && c <= last; }
inline bool is_letter(Category c) { return in_group(c, Category::kLu, Category::kLo); }
inline bool is_mark(Category c) { return in_group(c, Category::kMn, Category::kMe); }
inline bool is_number(Category c) { return in_group(c, Category::kNd, Category::kNo); }
inline bool is_punctuation(Category c) { return in_group(c, Category::kPc, Category::kPo); }

// White_Space: a regex's \s.
inline bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 9 && c <= 13);
  return c == 0x85 || c == 0xA0 || in_group(category(c), Category::kZs, Category::kZp);
}

// A regex's \w: Alphabetic, marks, decimal digits, connectors and joiners. The circled and squared
// letters are the symbols that are Alphabetic.
inline bool is_word(char32_t c) {
  const Category k = category(c);
  if (is_letter(k) || is_mark(k) || k == Category::kNd || k == Category::kNl || k == Category::kPc) {
    return true;
  }
  return c == 0x200C || c == 0x200D || (c >= 0x24B6 && c <= 0x24E9) ||
         (c >= 0x1F130 && c <= 0x1F149) || (c >= 0x1F150 && c <= 0x1F169) ||
         (c >= 0x1F170 && c <= 0x1F189);
}

}  // namespace kapitsa::text
