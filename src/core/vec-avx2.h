/* Vector vocabulary for AVX2 with FMA; the operations are explained in vec-generic.h.
 * The instruction set is asked for by function attribute, never by a compiler flag: objects of
 * the other variants stay runnable on any processor. */
#include <immintrin.h>
#include <stdint.h>

#define V_TARGET __attribute__((target("avx2,fma")))
#define V_INLINE static inline __attribute__((always_inline, target("avx2,fma")))
enum { V_WIDTH = 4 };

typedef double V __attribute__((vector_size(32)));
typedef int64_t M __attribute__((vector_size(32)));
typedef uint64_t v_bits __attribute__((vector_size(32)));

V_INLINE V v_set(double c) { return _mm256_set1_pd(c); }
V_INLINE V v_load(const double *p) { return _mm256_loadu_pd(p); }
V_INLINE void v_store(double *p, V v) { _mm256_storeu_pd(p, v); }
V_INLINE void v_store_first(double *p, V v) { _mm_store_sd(p, _mm256_castpd256_pd128(v)); }
V_INLINE void v_store_last(double *p, V v) { _mm_storeh_pd(p, _mm256_extractf128_pd(v, 1)); }
V_INLINE V v_select(M mask, V yes, V no) { return _mm256_blendv_pd(no, yes, (V)mask); }
V_INLINE M v_less_equal(V a, V b) { return (M)_mm256_cmp_pd(a, b, _CMP_LE_OQ); }
V_INLINE M v_both(M a, M b) { return a & b; }
V_INLINE M v_inside(V j, V lo, V hi) { return v_less_equal(lo, j) & v_less_equal(j, hi); }
V_INLINE V v_fma(V a, V b, V c) { return _mm256_fmadd_pd(a, b, c); }
V_INLINE V v_max(V a, V b) { return _mm256_max_pd(a, b); }
V_INLINE V v_min(V a, V b) { return _mm256_min_pd(a, b); }
V_INLINE V v_sqrt(V a) { return _mm256_sqrt_pd(a); }
V_INLINE V v_abs(V a) { return _mm256_andnot_pd(v_set(-0.0), a); }
V_INLINE V v_round(V a) {
  return _mm256_round_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
V_INLINE V v_scale(V m, V d) {
  v_bits b = (v_bits)(v_max(d, v_set(-1023.0)) + v_set(4503599627370496.0 + 1023.0));
  return m * (V)(b << 52);
}
V_INLINE void v_split(V s, V *m, V *e) {
  v_bits b = (v_bits)s;
  v_bits whole = (b >> 52) | (v_bits)v_set(4503599627370496.0);
  *e = (V)whole - v_set(4503599627370496.0 + 1023.0);
  *m = (V)((b & ((v_bits){0} + 0x000fffffffffffffULL)) | (v_bits)v_set(1.0));
}
V_INLINE V v_enter(V v, V w) {
  V crossed = _mm256_permute2f128_pd(w, v, 0x21); /* {w2, w3, v0, v1} */
  return _mm256_shuffle_pd(crossed, v, 0x5);
}
V_INLINE V v_leave(V v, V w) {
  V crossed = _mm256_permute2f128_pd(v, w, 0x21); /* {v2, v3, w0, w1} */
  return _mm256_shuffle_pd(v, crossed, 0x5);
}
V_INLINE V v_keep(V a) {
  __asm__("" : "+x"(a));
  return a;
}
