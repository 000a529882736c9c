#include "backend/cpu/memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

namespace kapitsa::cpu {

Result<Memory> Memory::allocate(size_t bytes, bool huge) {
  Memory memory;
  if (bytes == 0) return memory;
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return error(Code::kExhausted, "cannot allocate {} MB: {}", bytes >> 20, std::strerror(errno));
#ifdef MADV_HUGEPAGE
  if (huge) madvise(p, bytes, MADV_HUGEPAGE);
#else
  (void)huge;
#endif
  memory.data_ = static_cast<std::byte*>(p);
  memory.bytes_ = bytes;
  return memory;
}

Memory::~Memory() {
  if (data_) munmap(data_, bytes_);
}

}  // namespace kapitsa::cpu
