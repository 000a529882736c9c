#include "base/cancel.h"

#include <gtest/gtest.h>

namespace kapitsa {
namespace {

TEST(Cancel, NeverStopsByItself) {
  const Cancel never;
  never.stop();
  EXPECT_FALSE(never.stopped());
  EXPECT_TRUE(never.status("work").ok());
}

TEST(Cancel, StopsAllCopies) {
  const Cancel one = Cancel::within(std::chrono::hours(1));
  const Cancel other = one;
  EXPECT_FALSE(other.stopped());
  one.stop();
  EXPECT_TRUE(other.stopped());
  EXPECT_EQ(other.status("work").code(), Code::kCancelled);
}

TEST(Cancel, StopsAfterItsLimitAndNamesIt) {
  const Cancel late = Cancel().limited(std::chrono::milliseconds(-1500));
  EXPECT_TRUE(late.stopped());
  EXPECT_EQ(late.status("work").code(), Code::kInvalid);
  EXPECT_NE(late.status("work").message().find("-1.5 s"), std::string::npos);
}

}  // namespace
}  // namespace kapitsa
