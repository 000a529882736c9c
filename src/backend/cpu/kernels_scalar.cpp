#include "backend/cpu/isa/scalar.h"
#include "backend/cpu/kernels.h"

namespace kapitsa::cpu::scalar {

#include "backend/cpu/kernels.inl"

}  // namespace kapitsa::cpu::scalar
