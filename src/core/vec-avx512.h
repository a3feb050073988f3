/* Vector vocabulary for AVX-512 (F and DQ); the operations are explained in vec-generic.h.
 * scalef, getexp and getmant do in one instruction what the other variants do with shifts. They
 * expect flush-to-zero to be set (sweep.c sets it): results below the normal range cost 20 times
 * as much otherwise. */
#include <immintrin.h>
#include <stdint.h>

#define V_TARGET __attribute__((target("avx512f,avx512dq,avx2,fma")))
#define V_INLINE static inline __attribute__((always_inline, target("avx512f,avx512dq,avx2,fma")))
enum { V_WIDTH = 8 };

typedef double V __attribute__((vector_size(64)));
typedef __mmask8 M;

V_INLINE V v_set(double c) { return _mm512_set1_pd(c); }
V_INLINE V v_load(const double *p) { return _mm512_loadu_pd(p); }
V_INLINE void v_store(double *p, V v) { _mm512_storeu_pd(p, v); }
V_INLINE void v_store_first(double *p, V v) { _mm_store_sd(p, _mm512_castpd512_pd128(v)); }
V_INLINE void v_store_last(double *p, V v) { _mm512_mask_storeu_pd(p - 7, 0x80, v); }
V_INLINE V v_select(M mask, V yes, V no) { return _mm512_mask_blend_pd(mask, no, yes); }
V_INLINE M v_less_equal(V a, V b) { return _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ); }
V_INLINE M v_both(M a, M b) { return (M)(a & b); }
V_INLINE M v_inside(V j, V lo, V hi) {
  return _mm512_mask_cmp_pd_mask(v_less_equal(lo, j), j, hi, _CMP_LE_OQ);
}
V_INLINE V v_fma(V a, V b, V c) { return _mm512_fmadd_pd(a, b, c); }
V_INLINE V v_max(V a, V b) { return _mm512_max_pd(a, b); }
V_INLINE V v_min(V a, V b) { return _mm512_min_pd(a, b); }
V_INLINE V v_sqrt(V a) { return _mm512_sqrt_pd(a); }
V_INLINE V v_abs(V a) { return _mm512_abs_pd(a); }
V_INLINE V v_round(V a) { return _mm512_roundscale_pd(a, 8); }
V_INLINE V v_scale(V m, V d) { return _mm512_scalef_pd(m, d); }
V_INLINE void v_split(V s, V *m, V *e) {
  *e = _mm512_getexp_pd(s);
  *m = _mm512_getmant_pd(s, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src);
}
V_INLINE V v_enter(V v, V w) {
  return (V)_mm512_alignr_epi64((__m512i)v, (__m512i)w, 7);
}
V_INLINE V v_leave(V v, V w) {
  return (V)_mm512_alignr_epi64((__m512i)w, (__m512i)v, 1);
}
V_INLINE V v_keep(V a) {
  __asm__("" : "+v"(a));
  return a;
}
