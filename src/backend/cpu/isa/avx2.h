// The vector vocabulary (see scalar.h) in AVX2 with FMA and F16C: sixteen lanes are two registers.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

namespace kapitsa::cpu::avx2 {

inline constexpr const char* kName = "avx2";
inline constexpr int kLanes = 16;
inline constexpr int kRowTile = 4;
inline constexpr int kFloatTile = 1;
inline constexpr int kPrefetch = 2048;
inline constexpr int kQueryTile = 2;

struct Vec { __m256 a, b; };
struct Int { __m256i a, b; };
struct Codes { __m256i a, b; };

inline Vec zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
inline Vec set(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
inline Vec load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
inline void store(float* p, Vec x) { _mm256_storeu_ps(p, x.a); _mm256_storeu_ps(p + 8, x.b); }
inline __m128i load128(const void* p) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); }
inline Vec load_half(const uint16_t* p) { return {_mm256_cvtph_ps(load128(p)), _mm256_cvtph_ps(load128(p + 8))}; }
inline void store_half(uint16_t* p, Vec x) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(x.a, _MM_FROUND_TO_NEAREST_INT));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p + 8), _mm256_cvtps_ph(x.b, _MM_FROUND_TO_NEAREST_INT));
}
inline Vec load_bf16(const uint16_t* p) {
  const auto wide = [](__m128i h) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
  };
  return {wide(load128(p)), wide(load128(p + 8))};
}
inline Vec add(Vec x, Vec y) { return {_mm256_add_ps(x.a, y.a), _mm256_add_ps(x.b, y.b)}; }
inline Vec sub(Vec x, Vec y) { return {_mm256_sub_ps(x.a, y.a), _mm256_sub_ps(x.b, y.b)}; }
inline Vec mul(Vec x, Vec y) { return {_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b)}; }
inline Vec div(Vec x, Vec y) { return {_mm256_div_ps(x.a, y.a), _mm256_div_ps(x.b, y.b)}; }
inline Vec fma(Vec x, Vec y, Vec z) { return {_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)}; }
inline Vec fnma(Vec x, Vec y, Vec z) { return {_mm256_fnmadd_ps(x.a, y.a, z.a), _mm256_fnmadd_ps(x.b, y.b, z.b)}; }
inline Vec max(Vec x, Vec y) { return {_mm256_max_ps(x.a, y.a), _mm256_max_ps(x.b, y.b)}; }
inline Vec min(Vec x, Vec y) { return {_mm256_min_ps(x.a, y.a), _mm256_min_ps(x.b, y.b)}; }
inline Vec abs(Vec x) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  return {_mm256_andnot_ps(sign, x.a), _mm256_andnot_ps(sign, x.b)};
}
// All bits set in the lanes from `first` on whose number is below `count`.
inline __m256 below(int count, int first) {
  const __m256i lane = _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(first));
  return _mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32(count), lane));
}
inline Vec blend_tail(Vec x, Vec y, int count) {
  return {_mm256_blendv_ps(y.a, x.a, below(count, 0)), _mm256_blendv_ps(y.b, x.b, below(count, 8))};
}
inline Vec blend_head(Vec x, Vec y, int count) { return blend_tail(y, x, count); }

inline Int set_int(int32_t x) { return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)}; }
inline Vec to_float(Int x) { return {_mm256_cvtepi32_ps(x.a), _mm256_cvtepi32_ps(x.b)}; }
inline Int round(Vec x) { return {_mm256_cvtps_epi32(x.a), _mm256_cvtps_epi32(x.b)}; }
inline Vec exp2(Int n) {
  const __m256i bias = _mm256_set1_epi32(127);
  return {_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n.a, bias), 23)),
          _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n.b, bias), 23))};
}
inline __m128i load64(const void* p) { return _mm_loadl_epi64(static_cast<const __m128i*>(p)); }
inline Vec bytes_to_float(const uint8_t* p) {
  return {_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(load64(p))), _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(load64(p + 8)))};
}
inline Vec signed_bytes_to_float(const int8_t* p) {
  return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(load64(p))), _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(load64(p + 8)))};
}
inline void store_signed_bytes(int8_t* p, Int x) {
  const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(x.a, x.b), 0xD8);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p),
                   _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
}
inline int32_t sum(Int x) {
  const __m256i h = _mm256_add_epi32(x.a, x.b);
  __m128i q = _mm_add_epi32(_mm256_castsi256_si128(h), _mm256_extracti128_si256(h, 1));
  q = _mm_add_epi32(q, _mm_shuffle_epi32(q, 0x4E));
  return _mm_cvtsi128_si32(_mm_add_epi32(q, _mm_shuffle_epi32(q, 0xB1)));
}

inline float sum(Vec x) {
  const __m256 h = _mm256_add_ps(x.a, x.b);
  __m128 q = _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
  q = _mm_add_ps(q, _mm_movehl_ps(q, q));
  return _mm_cvtss_f32(_mm_add_ss(q, _mm_movehdup_ps(q)));
}
inline float max(Vec x) {
  const __m256 h = _mm256_max_ps(x.a, x.b);
  __m128 q = _mm_max_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
  q = _mm_max_ps(q, _mm_movehl_ps(q, q));
  return _mm_cvtss_f32(_mm_max_ss(q, _mm_movehdup_ps(q)));
}

inline Codes load_codes(const uint8_t* p) {
  const auto* q = reinterpret_cast<const __m256i*>(p);
  return {_mm256_loadu_si256(q), _mm256_loadu_si256(q + 1)};
}
inline void store_codes(uint8_t* p, Codes c) {
  auto* q = reinterpret_cast<__m256i*>(p);
  _mm256_storeu_si256(q, c.a);
  _mm256_storeu_si256(q + 1, c.b);
}
inline Codes bits(Codes c, int shift, int mask) {
  const __m256i m = _mm256_set1_epi8(static_cast<char>(mask));
  return {_mm256_and_si256(_mm256_srli_epi16(c.a, shift), m), _mm256_and_si256(_mm256_srli_epi16(c.b, shift), m)};
}
inline Codes join(Codes x, Codes y, int shift, int mask, int up) {
  const Codes high = bits(y, shift, mask);
  return {_mm256_or_si256(x.a, _mm256_slli_epi16(high.a, up)), _mm256_or_si256(x.b, _mm256_slli_epi16(high.b, up))};
}

inline __m256i broadcast4(const int8_t* x) {
  int32_t four;
  std::memcpy(&four, x, 4);
  return _mm256_set1_epi32(four);
}
// maddubs adds two products in 16 bits; for small codes several of those sums fit before they must be widened.
template <int N, int Max>
inline Int dot(const Codes* w, const int8_t* x, Int init) {
  static_assert(Max <= 127, "two products would saturate 16 bits: use dot_signed");
  constexpr int kFit = 32767 / (2 * Max * 127);
  constexpr int kRun = kFit >= N ? N : kFit >= 4 ? 4 : kFit >= 2 ? 2 : 1;
  const __m256i ones = _mm256_set1_epi16(1);
  for (int g = 0; g < N; g += kRun) {
    __m256i a = _mm256_maddubs_epi16(w[g].a, broadcast4(x + 4 * g));
    __m256i b = _mm256_maddubs_epi16(w[g].b, broadcast4(x + 4 * g));
    for (int r = 1; r < kRun; ++r) {
      const __m256i xs = broadcast4(x + 4 * (g + r));
      a = _mm256_add_epi16(a, _mm256_maddubs_epi16(w[g + r].a, xs));
      b = _mm256_add_epi16(b, _mm256_maddubs_epi16(w[g + r].b, xs));
    }
    init.a = _mm256_add_epi32(init.a, _mm256_madd_epi16(a, ones));
    init.b = _mm256_add_epi32(init.b, _mm256_madd_epi16(b, ones));
  }
  return init;
}
inline Codes prepare_signed(Codes c) { return c; }
// |w| times x with w's sign: |w| <= 128 and |x| <= 127, so that two products fit 16 bits.
template <int N>
inline Int dot_signed(const Codes* w, const int8_t* x, int32_t /*x_sum*/) {
  Int r = set_int(0);
  const __m256i ones = _mm256_set1_epi16(1);
  for (int g = 0; g < N; ++g) {
    const __m256i xs = broadcast4(x + 4 * g);
    const __m256i a = _mm256_maddubs_epi16(_mm256_abs_epi8(w[g].a), _mm256_sign_epi8(xs, w[g].a));
    const __m256i b = _mm256_maddubs_epi16(_mm256_abs_epi8(w[g].b), _mm256_sign_epi8(xs, w[g].b));
    r.a = _mm256_add_epi32(r.a, _mm256_madd_epi16(a, ones));
    r.b = _mm256_add_epi32(r.b, _mm256_madd_epi16(b, ones));
  }
  return r;
}
inline void prefetch(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0); }

}  // namespace kapitsa::cpu::avx2
