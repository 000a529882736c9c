#include "engine/kv/pools.h"

#include <gtest/gtest.h>

#include "engine/kv/sequence.h"

namespace kapitsa::engine {
namespace {

// Attention over everything, attention in a window of 100, and recurrent state.
backend::Graph graph() {
  backend::Graph g;
  g.add_kv_layer({.kv_heads = 1, .head_dim = 16});
  g.add_kv_layer({.kv_heads = 1, .head_dim = 16, .window = 100});
  g.add_state(64);
  return g;
}

TEST(Pools, PromisesOnlyWhatThereIs) {
  Pools pools(graph(), {.pages = {10, 8}, .states = 2});
  EXPECT_TRUE(pools.promise(0, 320, 64));    // 5 pages, 5 of the window's: 100 and 64 fill 3, and 2 for the edges
  EXPECT_FALSE(pools.promise(0, 384, 64));   // 6 more pages
  EXPECT_FALSE(pools.promise(0, 320, 64));   // 5 more of the window's
  EXPECT_TRUE(pools.promise(0, 128, 64));    // 2 and 2
  EXPECT_FALSE(pools.promise(0, 1, 64));     // no state
  EXPECT_FALSE(pools.promise(128, 384, 64)) << "6 pages in the place of 2 are one too many";
  EXPECT_TRUE(pools.promise(320, 0, 64));
  EXPECT_TRUE(pools.promise(128, 384, 64));
}

TEST(Sequence, ReservesSharesAndGivesBack) {
  Pools pools(graph(), {.pages = {8, 8}, .states = 2});
  {
    Sequence a(pools), b(pools);
    ASSERT_TRUE(a.reserve(200));
    a.length = 200;
    a.drop_behind_window();
    EXPECT_EQ(a.pages(1)[0], -1);  // position 200 sees from 101 on: the first page lies behind, the second does not
    EXPECT_GE(a.pages(1)[1], 0);
    ASSERT_TRUE(b.share(a));
    EXPECT_EQ(b.pages(0)[2], a.pages(0)[2]);
    EXPECT_NE(b.pages(0)[3], a.pages(0)[3]) << "the last page is not full, so each has its own";
    EXPECT_NE(b.state(), a.state());
    Sequence c(pools);
    EXPECT_FALSE(c.reserve(1)) << "there are two states";
  }
  EXPECT_EQ(pools.pages(0).free(), 8);
  EXPECT_EQ(pools.pages(1).free(), 8);
  EXPECT_EQ(pools.states().free(), 2);
}

}  // namespace
}  // namespace kapitsa::engine
