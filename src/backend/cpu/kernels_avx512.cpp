#include "backend/cpu/isa/avx512.h"
#include "backend/cpu/kernels.h"

namespace kapitsa::cpu::avx512 {

#include "backend/cpu/kernels.inl"

}  // namespace kapitsa::cpu::avx512
