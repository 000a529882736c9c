#include "backend/cpu/isa/scalar.h"
#include "backend/cpu/kernels.h"

namespace kapitsa::cpu::scalar {

template <int I>
struct Index {
  constexpr operator int() const { return I; }
};

#include "backend/cpu/kernels.inl"

extern const Kernels kKernels;
const Kernels kKernels = {"scalar",     quantize, linear_quant, linear_float, store_tile, add_tile, swiglu_tile,
                          rms_norm, rotate,   to_half,      from_half,    attend,     merge,    finish};

}  // namespace kapitsa::cpu::scalar
