#include "engine/kv/page_pool.h"

namespace kapitsa::engine {

PagePool::PagePool(int pages) : references_(static_cast<size_t>(pages), 0) {
  free_.reserve(static_cast<size_t>(pages));
  for (int32_t p = pages - 1; p >= 0; --p) free_.push_back(p);
}

int32_t PagePool::take() {
  if (free_.empty()) return -1;
  const int32_t page = free_.back();
  free_.pop_back();
  references_[static_cast<size_t>(page)] = 1;
  return page;
}

void PagePool::release(int32_t page) {
  if (--references_[static_cast<size_t>(page)] == 0) free_.push_back(page);
}

}  // namespace kapitsa::engine
