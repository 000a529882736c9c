// The vector vocabulary that every CPU kernel is written in, in plain C++: the reference. The other headers of
// this folder say the same in one instruction set each, bit for bit (tests/backend/cpu/kernels_test.cpp).
//
// Sixteen lanes everywhere, whatever the registers hold, so that a sum has one order on every machine.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "quant/half.h"

namespace kapitsa::cpu::scalar {

inline constexpr const char* kName = "scalar";
inline constexpr int kLanes = 16;
// Rows that a matrix kernel keeps in registers while it streams a panel of weights.
inline constexpr int kRowTile = 4;
// The same for float weights.
inline constexpr int kFloatTile = 1;
// How far ahead of use a panel is fetched, in bytes.
inline constexpr int kPrefetch = 2048;
// The same for attention: query rows that share a load of keys or values.
inline constexpr int kQueryTile = 2;

struct Vec { float v[16]; };
struct Int { int32_t v[16]; };
// 64 weight codes, unsigned: 16 output rows (major) by 4 neighbouring inputs.
struct Codes { uint8_t v[64]; };

#define KAPITSA_EACH(expr) for (int i = 0; i < 16; ++i) { expr; }
inline Vec zero() { return Vec{}; }
inline Vec set(float x) { Vec r; KAPITSA_EACH(r.v[i] = x) return r; }
inline Vec load(const float* p) { Vec r; KAPITSA_EACH(r.v[i] = p[i]) return r; }
inline void store(float* p, const Vec& a) { KAPITSA_EACH(p[i] = a.v[i]) }
inline Vec load_half(const uint16_t* p) { Vec r; KAPITSA_EACH(r.v[i] = quant::half_to_float(p[i])) return r; }
inline void store_half(uint16_t* p, const Vec& a) { KAPITSA_EACH(p[i] = quant::float_to_half(a.v[i])) }
inline Vec load_bf16(const uint16_t* p) {
  Vec r;
  for (int i = 0; i < 16; ++i) {
    const uint32_t bits = static_cast<uint32_t>(p[i]) << 16;
    std::memcpy(&r.v[i], &bits, 4);
  }
  return r;
}
inline Vec add(Vec a, const Vec& b) { KAPITSA_EACH(a.v[i] += b.v[i]) return a; }
inline Vec sub(Vec a, const Vec& b) { KAPITSA_EACH(a.v[i] -= b.v[i]) return a; }
inline Vec mul(Vec a, const Vec& b) { KAPITSA_EACH(a.v[i] *= b.v[i]) return a; }
inline Vec div(Vec a, const Vec& b) { KAPITSA_EACH(a.v[i] /= b.v[i]) return a; }
inline Vec fma(const Vec& a, const Vec& b, Vec c) { KAPITSA_EACH(c.v[i] = std::fma(a.v[i], b.v[i], c.v[i])) return c; }
// c - a b
inline Vec fnma(const Vec& a, const Vec& b, Vec c) { KAPITSA_EACH(c.v[i] = std::fma(-a.v[i], b.v[i], c.v[i])) return c; }
// The second operand where one is NaN, as x86 has it.
inline Vec max(Vec a, const Vec& b) { KAPITSA_EACH(a.v[i] = a.v[i] > b.v[i] ? a.v[i] : b.v[i]) return a; }
inline Vec min(Vec a, const Vec& b) { KAPITSA_EACH(a.v[i] = a.v[i] < b.v[i] ? a.v[i] : b.v[i]) return a; }
inline Vec abs(Vec a) { KAPITSA_EACH(a.v[i] = std::fabs(a.v[i])) return a; }
// Lanes of `a` below `count`, `b` in the rest.
inline Vec blend_tail(const Vec& a, Vec b, int count) { KAPITSA_EACH(if (i < count) b.v[i] = a.v[i]) return b; }
// Lanes of `a` from `count` on, `b` before.
inline Vec blend_head(const Vec& a, Vec b, int count) { KAPITSA_EACH(if (i >= count) b.v[i] = a.v[i]) return b; }

inline Int set_int(int32_t x) { Int r; KAPITSA_EACH(r.v[i] = x) return r; }
inline Vec to_float(const Int& a) { Vec r; KAPITSA_EACH(r.v[i] = static_cast<float>(a.v[i])) return r; }
// Nearest, ties to even; the caller keeps the value within int32.
inline Int round(const Vec& a) { Int r; KAPITSA_EACH(r.v[i] = static_cast<int32_t>(std::nearbyint(a.v[i]))) return r; }
// 2^n for n in [-126, 127].
inline Vec exp2(const Int& n) {
  Vec r;
  for (int i = 0; i < 16; ++i) {
    const uint32_t bits = static_cast<uint32_t>(n.v[i] + 127) << 23;
    std::memcpy(&r.v[i], &bits, 4);
  }
  return r;
}
inline Vec bytes_to_float(const uint8_t* p) { Vec r; KAPITSA_EACH(r.v[i] = p[i]) return r; }
inline Vec signed_bytes_to_float(const int8_t* p) { Vec r; KAPITSA_EACH(r.v[i] = p[i]) return r; }
inline void store_signed_bytes(int8_t* p, const Int& a) { KAPITSA_EACH(p[i] = static_cast<int8_t>(a.v[i])) }
inline int32_t sum(const Int& a) { int32_t s = 0; KAPITSA_EACH(s += a.v[i]) return s; }

// The one order of a sum over lanes: halves onto each other, 8, 4, 2, 1.
inline float sum(Vec a) {
  for (int n = 8; n >= 1; n /= 2) {
    for (int i = 0; i < n; ++i) a.v[i] += a.v[i + n];
  }
  return a.v[0];
}
inline float max(Vec a) {
  for (int n = 8; n >= 1; n /= 2) {
    for (int i = 0; i < n; ++i) a.v[i] = a.v[i] > a.v[i + n] ? a.v[i] : a.v[i + n];
  }
  return a.v[0];
}

inline Codes load_codes(const uint8_t* p) { Codes r; std::memcpy(r.v, p, 64); return r; }
inline void store_codes(uint8_t* p, const Codes& c) { std::memcpy(p, c.v, 64); }
// (code >> shift) & mask
inline Codes bits(Codes c, int shift, int mask) {
  for (auto& x : c.v) x = static_cast<uint8_t>((x >> shift) & mask);
  return c;
}
// a | ((b >> shift) & mask) << up
inline Codes join(Codes a, const Codes& b, int shift, int mask, int up) {
  for (int i = 0; i < 64; ++i) a.v[i] = static_cast<uint8_t>(a.v[i] | (((b.v[i] >> shift) & mask) << up));
  return a;
}

// init + sum over N groups of 4 inputs of code * x, exactly, for codes up to Max.
template <int N, int Max>
inline Int dot(const Codes* w, const int8_t* x, Int init) {
  for (int g = 0; g < N; ++g) {
    for (int i = 0; i < 64; ++i) init.v[i / 4] += static_cast<int32_t>(w[g].v[i]) * x[4 * g + i % 4];
  }
  return init;
}
// Signed bytes, as dot_signed wants them.
inline Codes prepare_signed(Codes c) { return c; }
// The same for codes that are signed bytes; `x_sum` is the sum of the 4 N inputs.
template <int N>
inline Int dot_signed(const Codes* w, const int8_t* x, int32_t /*x_sum*/) {
  Int r = set_int(0);
  for (int g = 0; g < N; ++g) {
    for (int i = 0; i < 64; ++i) {
      r.v[i / 4] += static_cast<int32_t>(static_cast<int8_t>(w[g].v[i])) * x[4 * g + i % 4];
    }
  }
  return r;
}
inline void prefetch(const void*) {}
#undef KAPITSA_EACH

}  // namespace kapitsa::cpu::scalar
