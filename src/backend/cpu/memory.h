// Anonymous memory straight from the OS: zero, committed only where it is touched.
#pragma once

#include <cstddef>
#include <utility>

#include "base/status.h"

namespace kapitsa::cpu {

class Memory {
 public:
  Memory() = default;
  // `huge`: ask for huge pages, for memory that is streamed whole (weights).
  static Result<Memory> allocate(size_t bytes, bool huge);
  Memory(Memory&& other) noexcept { *this = std::move(other); }
  Memory& operator=(Memory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Memory();

  std::byte* data() const { return data_; }
  template <class T>
  T* as(size_t offset = 0) const { return reinterpret_cast<T*>(data_ + offset); }
  size_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace kapitsa::cpu
