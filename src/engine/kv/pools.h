// What sequences draw from: a pool of pages for each KV group of a model, and one of slots for recurrent states.
#pragma once

#include <algorithm>
#include <vector>

#include "backend/backend.h"
#include "engine/kv/page_pool.h"

namespace kapitsa::engine {

inline int pages_for(int tokens) { return (tokens + backend::kPage - 1) / backend::kPage; }

// Pages of a group that a sequence of `tokens` holds at most at a time, growing by up to `chunk` tokens a step. Behind a
// window pages are given back, whole ones only: up to two more than window and chunk fill.
inline int most_pages(int tokens, int window, int chunk) {
  const int all = pages_for(tokens);
  return window == 0 ? all : std::min(all, pages_for(window + chunk) + 2);
}

class Pools {
 public:
  Pools(const backend::Graph& graph, const backend::CacheShape& shape) : states_(shape.states), stateful_(!graph.states().empty()) {
    for (size_t g = 0; g < shape.pages.size(); ++g) {
      pages_.emplace_back(shape.pages[g]);
      windows_.push_back(graph.kv_groups()[g].window);
    }
    promised_.resize(shape.pages.size() + 1);
  }

  // Sets aside what a sequence of up to `now` tokens may need in the place of what `before` tokens did (0: nothing), so that
  // it never has to wait half way. False, and nothing changes, where others have been promised too much of it.
  bool promise(int before, int now, int chunk) {
    const auto change = [&](size_t i) { return need(i, now, chunk) - need(i, before, chunk); };
    for (size_t i = 0; i < promised_.size(); ++i) {
      const int total = i < pages_.size() ? pages_[i].total() : states_.total();
      if (promised_[i] + change(i) > total) return false;
    }
    for (size_t i = 0; i < promised_.size(); ++i) promised_[i] += change(i);
    return true;
  }

  int groups() const { return static_cast<int>(pages_.size()); }
  PagePool& pages(int group) { return pages_[static_cast<size_t>(group)]; }
  const PagePool& pages(int group) const { return pages_[static_cast<size_t>(group)]; }
  int window(int group) const { return windows_[static_cast<size_t>(group)]; }
  PagePool& states() { return states_; }
  const PagePool& states() const { return states_; }
  // Whether a sequence has recurrent state.
  bool stateful() const { return stateful_; }

 private:
  // What a sequence of `tokens` needs of group i, or, behind the groups, of states.
  int need(size_t i, int tokens, int chunk) const {
    if (i < windows_.size()) return most_pages(tokens, windows_[i], chunk);
    return stateful_ && tokens > 0 ? 1 : 0;
  }

  std::vector<PagePool> pages_;
  std::vector<int> windows_;
  std::vector<int> promised_;  // by group, then states
  PagePool states_;
  bool stateful_;
};

}  // namespace kapitsa::engine
