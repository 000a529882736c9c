#include "backend/cpu/kernels.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace kapitsa::cpu {

namespace scalar { extern const Kernels kKernels; }
#ifdef KAPITSA_X86
namespace avx2 { extern const Kernels kKernels; }
namespace avx512 { extern const Kernels kKernels; }
#endif

int64_t panel_scratch_bytes(int64_t columns) { return (columns + 31) / 32 * (512 + 64 * 3); }

const Kernels* find_kernels(const char* name) {
  if (std::strcmp(name, "scalar") == 0) return &scalar::kKernels;
#ifdef KAPITSA_X86
  __builtin_cpu_init();
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  if (std::strcmp(name, "avx2") == 0 && has_avx2) return &avx2::kKernels;
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                          __builtin_cpu_supports("avx512vnni");
  if (std::strcmp(name, "avx512") == 0 && has_avx512) return &avx512::kKernels;
#endif
  return nullptr;
}

const Kernels& best_kernels() {
  static const Kernels& best = []() -> const Kernels& {
    if (const char* wanted = std::getenv("KAPITSA_CPU")) {
      if (const Kernels* k = find_kernels(wanted)) return *k;
      std::fprintf(stderr, "kapitsa: KAPITSA_CPU=%s is not to be had here; it may be scalar, avx2 or avx512\n", wanted);
    }
    for (const char* name : {"avx512", "avx2"}) {
      if (const Kernels* k = find_kernels(name)) return *k;
    }
    return scalar::kKernels;
  }();
  return best;
}

}  // namespace kapitsa::cpu
