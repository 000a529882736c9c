// Who owns which page of the KV cache. Pages are counted references, so that prefixes can be shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kapitsa::engine {

class PagePool {
 public:
  explicit PagePool(int pages);

  // A page with one reference, or -1 where none is free. The most recently freed page comes first: it is warm.
  int32_t take();
  void share(int32_t page) { ++references_[static_cast<size_t>(page)]; }
  void release(int32_t page);

  int total() const { return static_cast<int>(references_.size()); }
  int free() const { return static_cast<int>(free_.size()); }

 private:
  std::vector<int32_t> references_;
  std::vector<int32_t> free_;
};

}  // namespace kapitsa::engine
