#include "base/progress_bar.h"

#include <gtest/gtest.h>

namespace kapitsa {
namespace {

TEST(ProgressBar, FillsTheRoomThereIs) {
  EXPECT_EQ(progress_bar(0.5, 12), "[#####.....]");
  EXPECT_EQ(progress_bar(2, 10), "[########]");
  EXPECT_EQ(progress_bar(0, 1000).size(), 42u);
  EXPECT_EQ(progress_bar(0.5, 9), "");
  EXPECT_EQ(progress_bar(0.5, -5), "");
}

}  // namespace
}  // namespace kapitsa
