// All kernels of one instruction set: included by kernels_<set>.cpp inside namespace kapitsa::cpu::<set>, after that
// set's vocabulary, and compiled with its flags. Nothing here may call an inline function of the standard library: the
// linker keeps one copy of those, and it could be the one with instructions that another machine does not have.

template <int I>
struct Index {
  constexpr operator int() const { return I; }
};

// Calls f with Index<0> .. Index<N - 1>: shifts by a constant are one instruction.
template <int N, int I = 0, class F>
inline void each(F f) {
  if constexpr (I < N) {
    f(Index<I>{});
    each<N, I + 1>(f);
  }
}

#include "backend/cpu/op/math.inl"
#include "backend/cpu/op/quantize.inl"
#include "backend/cpu/op/linear_quant.inl"
#include "backend/cpu/op/linear_float.inl"
#include "backend/cpu/op/norm.inl"
#include "backend/cpu/op/rope_kv.inl"
#include "backend/cpu/op/attention.inl"
#include "backend/cpu/op/gates.inl"
#include "backend/cpu/op/conv.inl"
#include "backend/cpu/op/delta.inl"
#include "backend/cpu/op/scan.inl"

extern const Kernels kKernels;
const Kernels kKernels = {kName,    quantize, linear_quant, linear_float, store_tile, add_tile, swiglu_tile,
                          rms_norm, rotate,   to_half,      from_half,    attend,     merge,    finish,
                          relu2_tile, sigmoid, sigmoid_mul, silu_mul, axpy, conv, l2_norm, delta, scan};
