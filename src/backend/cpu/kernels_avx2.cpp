#include "backend/cpu/isa/avx2.h"
#include "backend/cpu/kernels.h"

namespace kapitsa::cpu::avx2 {

#include "backend/cpu/kernels.inl"

}  // namespace kapitsa::cpu::avx2
