// What one sequence of tokens holds: its pages of each KV group, in order, and its slot of recurrent state.
#pragma once

#include <utility>
#include <vector>

#include "engine/kv/pools.h"

namespace kapitsa::engine {

class Sequence {
 public:
  explicit Sequence(Pools& pools) : pools_(&pools), pages_(static_cast<size_t>(pools.groups())) {}
  Sequence(Sequence&& other) noexcept
      : length(std::exchange(other.length, 0)),
        pools_(other.pools_),
        pages_(std::exchange(other.pages_, std::vector<std::vector<int32_t>>(other.pages_.size()))),
        state_(std::exchange(other.state_, -1)) {}
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;
  ~Sequence() { clear(); }

  // Makes room for positions below `tokens`. False where a pool is empty; what was taken stays.
  bool reserve(int tokens);
  // Gives back the pages that lie wholly behind their group's window.
  void drop_behind_window();
  void clear();

  // Page ids by position / kPage; -1 where the page lies behind the window.
  const std::vector<int32_t>& pages(int group) const { return pages_[static_cast<size_t>(group)]; }
  int32_t state() const { return state_; }

  // Takes over what `other` has, as references: pages that are full are shared from now on. Its last page and its state
  // are this sequence's own, new and not filled yet: copies that the caller has to order. False where a pool is empty.
  bool share(const Sequence& other);

  int length = 0;  // tokens in the cache

 private:
  Pools* pools_;
  std::vector<std::vector<int32_t>> pages_;
  int32_t state_ = -1;
};

}  // namespace kapitsa::engine
