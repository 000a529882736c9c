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

  // Sets aside what a sequence of up to `tokens` may need, so that it never has to wait half way. False, and nothing is
  // set aside, where others have been promised too much of it.
  bool promise(int tokens, int chunk) {
    const std::vector<int> need = needs(tokens, chunk);
    for (size_t i = 0; i < need.size(); ++i) {
      const int total = i < pages_.size() ? pages_[i].total() : states_.total();
      if (promised_[i] + need[i] > total) return false;
    }
    for (size_t i = 0; i < need.size(); ++i) promised_[i] += need[i];
    return true;
  }
  void take_back(int tokens, int chunk) {
    const std::vector<int> need = needs(tokens, chunk);
    for (size_t i = 0; i < need.size(); ++i) promised_[i] -= need[i];
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
  // Pages of each group, then states.
  std::vector<int> needs(int tokens, int chunk) const {
    std::vector<int> out;
    for (const int window : windows_) out.push_back(most_pages(tokens, window, chunk));
    out.push_back(stateful_ ? 1 : 0);
    return out;
  }

  std::vector<PagePool> pages_;
  std::vector<int> windows_;
  std::vector<int> promised_;  // as needs()
  PagePool states_;
  bool stateful_;
};

}  // namespace kapitsa::engine
