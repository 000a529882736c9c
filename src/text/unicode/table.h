// The one Unicode table: data in table.cpp, written by scripts/unicode-table. Use properties.h and
// normalize.h; nothing else reads it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kapitsa::text {

// General categories, in groups: other, letter, mark, number, punctuation, symbol, separator.
// clang-format off
enum class Category : uint8_t {
  kCn, kCc, kCf, kCs, kCo,
  kLu, kLl, kLt, kLm, kLo,
  kMn, kMc, kMe,
  kNd, kNl, kNo,
  kPc, kPd, kPs, kPe, kPi, kPf, kPo,
  kSm, kSc, kSk, kSo,
  kZs, kZl, kZp,
};
// clang-format on

namespace table {

// What a code point is. `touchy`: a text without such points is in NFC already.
struct Record {
  Category category;
  uint8_t combining_class;
  bool touchy;
};

// The full decomposition of `point`: pool[offset .. offset + length).
struct Decomposition {
  char32_t point;
  uint16_t offset;
  uint8_t length;
};

struct Composition {
  char32_t first, second, composed;
};

struct Lower {
  char32_t upper, lower;
};

// records[stage2[stage1[point >> kBlockBits] << kBlockBits | low bits]]; the other arrays are sorted.
constexpr int kBlockBits = 7;
extern const uint16_t stage1[];
extern const uint8_t stage2[];
extern const Record records[];
extern const char32_t canonical_pool[];
extern const Decomposition canonical_index[];
extern const size_t canonical_count;
extern const char32_t compatible_pool[];
extern const Decomposition compatible_index[];
extern const size_t compatible_count;
extern const Composition compositions[];
extern const size_t composition_count;
extern const Lower lower[];
extern const size_t lower_count;

}  // namespace table
}  // namespace kapitsa::text
