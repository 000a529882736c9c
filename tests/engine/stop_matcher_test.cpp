#include "engine/stop_matcher.h"

#include <gtest/gtest.h>

namespace kapitsa::engine {
namespace {

// Pushes `text` in pieces of `size` bytes; gives all that came out.
std::string feed(StopMatcher& m, const std::string& text, size_t size) {
  std::string out;
  for (size_t i = 0; i < text.size() && m.found().empty(); i += size) out += m.push(text.substr(i, size));
  if (m.found().empty()) out += m.finish();
  return out;
}

TEST(StopMatcher, FindsAcrossPieces) {
  for (size_t size : {1, 2, 3, 100}) {
    StopMatcher m({"STOP", "\n\n"});
    EXPECT_EQ(feed(m, "ab STSTOP more", size), "ab ST") << size;
    EXPECT_EQ(m.found(), "STOP");
  }
}

TEST(StopMatcher, LosesNothingWhereNoneComes) {
  for (size_t size : {1, 2, 5}) {
    StopMatcher m({"abcd", "bc!"});
    EXPECT_EQ(feed(m, "abc abcabc", size), "abc abcabc");
    EXPECT_TRUE(m.found().empty());
  }
}

TEST(StopMatcher, TheEarliestWinsThenTheLongest) {
  StopMatcher m({"b", "ab", "abc"});
  EXPECT_EQ(m.push("xabc"), "x");
  EXPECT_EQ(m.found(), "abc");
}

TEST(StopMatcher, EmptyStringsStopNothing) {
  StopMatcher m({""});
  EXPECT_EQ(m.push("abc"), "abc");
}

TEST(StopMatcher, HoldsBackNoMoreThanItMust) {
  StopMatcher m({"END"});
  EXPECT_EQ(m.push("hello E"), "hello ");
  EXPECT_EQ(m.push("x"), "Ex");
}

}  // namespace
}  // namespace kapitsa::engine
