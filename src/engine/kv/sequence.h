// The pages of one sequence of tokens, in order.
#pragma once

#include <vector>

#include "backend/backend.h"
#include "engine/kv/page_pool.h"

namespace kapitsa::engine {

class Sequence {
 public:
  explicit Sequence(PagePool& pool) : pool_(&pool) {}
  Sequence(Sequence&& other) noexcept : pool_(other.pool_), pages_(std::move(other.pages_)), length(other.length) {
    other.pages_.clear();
  }
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;
  ~Sequence() { clear(); }

  // Makes room for positions below `length`. False where the pool is empty; what was taken stays.
  bool reserve(int tokens) {
    while (static_cast<int>(pages_.size()) * backend::kPage < tokens) {
      const int32_t page = pool_->take();
      if (page < 0) return false;
      pages_.push_back(page);
    }
    return true;
  }
  void clear() {
    for (int32_t page : pages_) pool_->release(page);
    pages_.clear();
    length = 0;
  }
  const std::vector<int32_t>& pages() const { return pages_; }

 private:
  PagePool* pool_;
  std::vector<int32_t> pages_;

 public:
  int length = 0;  // tokens in the cache
};

}  // namespace kapitsa::engine
