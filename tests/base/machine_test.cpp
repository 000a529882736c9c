#include "base/machine.h"

#include <gtest/gtest.h>

namespace kapitsa {
namespace {

TEST(Machine, SaysHowMuchMemoryThereIs) {
  EXPECT_GT(memory_limit(), size_t{100'000'000});
  EXPECT_LT(memory_limit(), size_t{1} << 50);
  EXPECT_GT(memory_limit(), peak_memory());
}

}  // namespace
}  // namespace kapitsa
