// The vector vocabulary (see scalar.h) in AVX-512 with VNNI.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

namespace kapitsa::cpu::avx512 {

inline constexpr const char* kName = "avx512";
inline constexpr int kLanes = 16;
inline constexpr int kRowTile = 8;
inline constexpr int kFloatTile = 4;
inline constexpr int kPrefetch = 2048;
inline constexpr int kQueryTile = 4;

using Vec = __m512;
struct Int { __m512i v; };
struct Codes { __m512i v; };

inline Vec zero() { return _mm512_setzero_ps(); }
inline Vec set(float x) { return _mm512_set1_ps(x); }
inline Vec load(const float* p) { return _mm512_loadu_ps(p); }
inline void store(float* p, Vec a) { _mm512_storeu_ps(p, a); }
inline Vec load_half(const uint16_t* p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
inline void store_half(uint16_t* p, Vec a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
}
inline Vec load_bf16(const uint16_t* p) {
  const __m256i half = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16));
}
inline Vec add(Vec a, Vec b) { return _mm512_add_ps(a, b); }
inline Vec sub(Vec a, Vec b) { return _mm512_sub_ps(a, b); }
inline Vec mul(Vec a, Vec b) { return _mm512_mul_ps(a, b); }
inline Vec div(Vec a, Vec b) { return _mm512_div_ps(a, b); }
inline Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
inline Vec fnma(Vec a, Vec b, Vec c) { return _mm512_fnmadd_ps(a, b, c); }
inline Vec max(Vec a, Vec b) { return _mm512_max_ps(a, b); }
inline Vec min(Vec a, Vec b) { return _mm512_min_ps(a, b); }
inline Vec abs(Vec a) { return _mm512_abs_ps(a); }
inline __mmask16 below(int count) {
  return static_cast<__mmask16>(count >= 16 ? 0xFFFF : count <= 0 ? 0 : (1u << count) - 1);
}
inline Vec blend_tail(Vec a, Vec b, int count) { return _mm512_mask_blend_ps(below(count), b, a); }
inline Vec blend_head(Vec a, Vec b, int count) { return _mm512_mask_blend_ps(below(count), a, b); }

inline Int set_int(int32_t x) { return {_mm512_set1_epi32(x)}; }
inline Vec to_float(Int a) { return _mm512_cvtepi32_ps(a.v); }
inline Int round(Vec a) {
  return {_mm512_cvt_roundps_epi32(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
inline Vec exp2(Int n) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(n.v, _mm512_set1_epi32(127)), 23));
}
inline Vec bytes_to_float(const uint8_t* p) {
  return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}
inline Vec signed_bytes_to_float(const int8_t* p) {
  return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}
inline void store_signed_bytes(int8_t* p, Int a) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(a.v));
}
inline int32_t sum(Int a) { return _mm512_reduce_add_epi32(a.v); }

inline float sum(Vec a) {
  const __m256 h = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
  __m128 q = _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
  q = _mm_add_ps(q, _mm_movehl_ps(q, q));
  return _mm_cvtss_f32(_mm_add_ss(q, _mm_movehdup_ps(q)));
}
inline float max(Vec a) {
  const __m256 h = _mm256_max_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
  __m128 q = _mm_max_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
  q = _mm_max_ps(q, _mm_movehl_ps(q, q));
  return _mm_cvtss_f32(_mm_max_ss(q, _mm_movehdup_ps(q)));
}

inline Codes load_codes(const uint8_t* p) { return {_mm512_loadu_si512(p)}; }
inline void store_codes(uint8_t* p, Codes c) { _mm512_storeu_si512(p, c.v); }
inline Codes bits(Codes c, int shift, int mask) {
  return {_mm512_and_si512(_mm512_srli_epi16(c.v, static_cast<unsigned>(shift)),
                           _mm512_set1_epi8(static_cast<char>(mask)))};
}
inline Codes join(Codes a, Codes b, int shift, int mask, int up) {
  const __m512i high = bits(b, shift, mask).v;
  return {_mm512_or_si512(a.v, _mm512_slli_epi16(high, static_cast<unsigned>(up)))};
}

inline __m512i broadcast4(const int8_t* x) {
  int32_t four;
  std::memcpy(&four, x, 4);
  return _mm512_set1_epi32(four);
}
template <int N, int Max>
inline Int dot(const Codes* w, const int8_t* x, Int init) {
  for (int g = 0; g < N; ++g) init.v = _mm512_dpbusd_epi32(init.v, w[g].v, broadcast4(x + 4 * g));
  return init;
}
// dpbusd wants unsigned codes: w + 128, and 128 times the sum of x is taken back from the start value.
inline Codes prepare_signed(Codes c) { return {_mm512_xor_si512(c.v, _mm512_set1_epi8(static_cast<char>(0x80)))}; }
template <int N>
inline Int dot_signed(const Codes* w, const int8_t* x, int32_t x_sum) {
  Int r = set_int(-128 * x_sum);
  for (int g = 0; g < N; ++g) {
    r.v = _mm512_dpbusd_epi32(r.v, w[g].v, broadcast4(x + 4 * g));
  }
  return r;
}
inline void prefetch(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0); }

}  // namespace kapitsa::cpu::avx512
