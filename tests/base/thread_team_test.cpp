#include "base/thread_team.h"

#include <gtest/gtest.h>

#include <atomic>

namespace kapitsa {
namespace {

TEST(ThreadTeam, EveryMemberRunsOnce) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadTeam team(threads);
    ASSERT_EQ(team.size(), threads);
    std::vector<std::atomic<int>> runs(static_cast<size_t>(threads));
    for (int i = 0; i < 200; ++i) team.run([&](int member) { ++runs[static_cast<size_t>(member)]; });
    for (const auto& r : runs) EXPECT_EQ(r.load(), 200);
  }
}

TEST(ThreadTeam, NobodyPassesABarrierEarly) {
  ThreadTeam team(4);
  std::atomic<int> arrived{0};
  std::atomic<bool> early{false};
  team.run([&](int) {
    for (int round = 1; round <= 500; ++round) {
      ++arrived;
      team.barrier();
      if (arrived.load() < round * 4) early = true;
      team.barrier();
    }
  });
  EXPECT_FALSE(early.load());
}

TEST(ThreadTeam, RunsAfterItsMembersSlept) {
  ThreadTeam team(3);
  std::atomic<int> runs{0};
  team.run([&](int) { ++runs; });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  team.run([&](int) { ++runs; });
  EXPECT_EQ(runs.load(), 6);
}

}  // namespace
}  // namespace kapitsa
