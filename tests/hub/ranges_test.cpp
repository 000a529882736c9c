#include "hub/ranges.h"

#include <gtest/gtest.h>

#include <random>

namespace kapitsa::hub {
namespace {

TEST(RangeSet, EqualsASetOfBytes) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    RangeSet set;
    std::vector<bool> bytes(100);
    for (int i = 0; i < 12; ++i) {
      const uint64_t begin = random() % 100;
      const uint64_t end = begin + random() % (101 - begin);
      set.add({begin, end});
      for (uint64_t b = begin; b < end; ++b) bytes[b] = true;
    }
    std::vector<bool> missing(100, false);
    for (const ByteRange gap : set.missing(100, 7)) {
      EXPECT_LE(gap.end - gap.begin, 7u);
      for (uint64_t b = gap.begin; b < gap.end; ++b) missing[b] = true;
    }
    uint64_t have = 0;
    for (size_t b = 0; b < 100; ++b) {
      EXPECT_NE(bytes[b], missing[b]);
      have += bytes[b];
    }
    EXPECT_EQ(set.bytes(), have);
  }
}

TEST(Journal, TornAndForeignLinesAreLeftOut) {
  const std::string head = journal_head(100, "etag");
  EXPECT_EQ(parse_journal(head + "0 10\n20 30\n", 100, "etag").bytes(), 20u);
  EXPECT_EQ(parse_journal(head + "0 10\n20 3", 100, "etag").bytes(), 10u);
  EXPECT_EQ(parse_journal(head + "0 10\nxx\n-1 5\n50 101\n7\n 3 4\n30 20\n", 100, "etag").bytes(),
            10u);
  EXPECT_EQ(parse_journal(head + "0 10\n", 100, "other").bytes(), 0u);
  EXPECT_EQ(parse_journal(head + "0 10\n", 101, "etag").bytes(), 0u);
  EXPECT_EQ(parse_journal("", 100, "etag").bytes(), 0u);
}

}  // namespace
}  // namespace kapitsa::hub
