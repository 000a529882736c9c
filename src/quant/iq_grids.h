// What the IQ formats share: codebooks of short vectors, packed as the bytes of a word so that one
// load gives 8 (or 4) weights, and their signs.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "quant/half.h"
#include "quant/iq_points.h"
#include "quant/traits.h"

namespace kapitsa::quant {

constexpr int hex_digit(char c) {
  return c <= '9' ? c - '0' : c - 'a' + 10;
}

// Expands a bitmap of iq_points.h: entry i's coordinate j is byte j of word i, mapped by `levels`.
template <class Word, int kEntries, size_t kBase>
constexpr std::array<Word, kEntries> expand_grid(std::string_view points,
                                                 const int8_t (&levels)[kBase]) {
  std::array<Word, kEntries> grid{};
  size_t filled = 0;
  for (size_t digit = 0; digit < points.size(); ++digit) {
    const int nibble = hex_digit(points[digit ^ 1]);  // a byte's high digit stands first
    for (size_t bit = 0; bit < 4; ++bit) {
      if ((nibble >> bit & 1) == 0) continue;
      size_t number = 4 * digit + bit;
      Word word = 0;
      for (size_t j = 0; j < sizeof(Word); ++j, number /= kBase) {
        word |= Word{static_cast<uint8_t>(levels[number % kBase])} << (8 * j);
      }
      grid.at(filled++) = word;
    }
  }
  if (filled != kEntries) throw "a bitmap of iq_points.h is damaged";  // fails the build
  return grid;
}

inline constexpr int8_t kIq2Levels[] = {8, 25, 43};
inline constexpr int8_t kIq1Levels[] = {0, 8, 16};  // -1, 0, 1 as kIq1Zero counts them, less 1/8
inline constexpr int8_t kIq3XxsLevels[] = {4, 12, 20, 28, 36, 44, 52, 62};
inline constexpr int8_t kIq3SLevels[] = {1, 3, 5, 7, 9, 11, 13, 15};

inline constexpr auto kIq2XxsGrid = expand_grid<uint64_t, 256>(kIq2XxsPoints, kIq2Levels);
inline constexpr auto kIq2XsGrid = expand_grid<uint64_t, 512>(kIq2XsPoints, kIq2Levels);
inline constexpr auto kIq2SGrid = expand_grid<uint64_t, 1024>(kIq2SPoints, kIq2Levels);
inline constexpr auto kIq1Grid = expand_grid<uint64_t, 2048>(kIq1Points, kIq1Levels);
inline constexpr auto kIq3XxsGrid = expand_grid<uint32_t, 256>(kIq3XxsPoints, kIq3XxsLevels);
inline constexpr auto kIq3SGrid = expand_grid<uint32_t, 512>(kIq3SPoints, kIq3SLevels);

// Bit j of a sign byte set: weight j is negative. Entry s has 0xff in those bytes, 0 in the others.
inline constexpr auto kSignMasks = [] {
  std::array<uint64_t, 256> masks{};
  for (size_t s = 0; s < 256; ++s) {
    for (int j = 0; j < 8; ++j) masks[s] |= uint64_t{s >> j & 1} * 0xff << (8 * j);
  }
  return masks;
}();

// The sign byte of a 7-bit index: bit 7 makes the number of minus signs even.
inline constexpr auto kEvenSigns = [] {
  std::array<uint8_t, 128> signs{};
  for (unsigned s = 0; s < 128; ++s) signs[s] = static_cast<uint8_t>(s | std::popcount(s) % 2 << 7);
  return signs;
}();

// Negates the bytes that `signs` names; they are 1..127, so that no carry leaves a byte.
constexpr uint64_t with_signs(uint64_t word, uint8_t signs) {
  const uint64_t mask = kSignMasks[signs];
  return (word ^ mask) + (mask & 0x0101010101010101u);
}

// Two entries of 4 weights as one word of 8.
constexpr uint64_t joined(uint32_t first, uint32_t second) {
  return first | uint64_t{second} << 32;
}

// IQ1 shifts its values -1, 0, 1 by an eighth up or down. Both together are the byte
// 8 * (value + shift) + kIq1Zero: the grid holds the bytes shifted down, and shifting up adds 2.
inline constexpr int kIq1Zero = 9;
constexpr uint64_t iq1_shifted(uint64_t word, bool down) {
  return word + (down ? 0 : 0x0202020202020202u);
}

// The 256 weights of a block before its scales: 8 signed bytes a word. They are gathered first and
// scaled after that, since a wide load right behind the narrow stores it reads would wait for them.
using IqWords = std::array<uint64_t, 32>;

// out[j] = scales[j / kGroup] * (byte j - kZero).
template <int kGroup, int kZero = 0>
constexpr void scale_words(const IqWords& words, const float (&scales)[256 / kGroup], float* out) {
  const auto values = std::bit_cast<std::array<int8_t, 256>>(words);
  for (int g = 0; g < 256 / kGroup; ++g) {
    for (int j = kGroup * g; j < kGroup * (g + 1); ++j) {
      out[j] = scales[g] * static_cast<float>(values[j] - kZero);
    }
  }
}

}  // namespace kapitsa::quant
