/* Vector vocabulary for AVX-512 (F and DQ); the operations are explained in vec-generic.h.
 * scalef, getexp and getmant do in one instruction what the other variants do with shifts. They
 * expect flush-to-zero to be set (sweep.c sets it): results below the normal range cost 20 times
 * as much otherwise. */
#include <immintrin.h>
#include <stdint.h>

#include "precision.h"

#define V_TARGET __attribute__((target("avx512f,avx512dq,avx2,fma")))
#define V_INLINE static inline __attribute__((always_inline, target("avx512f,avx512dq,avx2,fma")))

typedef sdtw_real V __attribute__((vector_size(64)));
#ifdef SDTW_SINGLE
enum { V_WIDTH = 16 };
typedef __mmask16 M;
#define V_AVX512(name) _mm512_##name##_ps
#define V_AVX512_MASK(name) _mm512_##name##_ps_mask
#define V_ALIGN _mm512_alignr_epi32
#else
enum { V_WIDTH = 8 };
typedef __mmask8 M;
#define V_AVX512(name) _mm512_##name##_pd
#define V_AVX512_MASK(name) _mm512_##name##_pd_mask
#define V_ALIGN _mm512_alignr_epi64
#endif

/* Plain names for single instructions: as inlined functions they would make a quarter of all
 * debugging information. */
#define v_set V_AVX512(set1)
#define v_load V_AVX512(loadu)
#define v_store V_AVX512(storeu)
#define v_fma V_AVX512(fmadd)
#define v_max V_AVX512(max)
#define v_min V_AVX512(min)
#define v_sqrt V_AVX512(sqrt)
#define v_abs V_AVX512(abs)
#define v_scale V_AVX512(scalef)

V_INLINE void v_store_first(sdtw_real *p, V v) { V_AVX512(mask_storeu)(p, 1, v); }
V_INLINE void v_store_last(sdtw_real *p, V v) {
  V_AVX512(mask_storeu)(p - (V_WIDTH - 1), (M)(1u << (V_WIDTH - 1)), v);
}
V_INLINE V v_select(M mask, V yes, V no) { return V_AVX512(mask_blend)(mask, no, yes); }
V_INLINE M v_less_equal(V a, V b) { return V_AVX512_MASK(cmp)(a, b, _CMP_LE_OQ); }
V_INLINE M v_inside(V j, V lo, V hi) {
  return V_AVX512_MASK(mask_cmp)(v_less_equal(lo, j), j, hi, _CMP_LE_OQ);
}
V_INLINE V v_round(V a) { return V_AVX512(roundscale)(a, 8); }
V_INLINE void v_split(V s, V *m, V *e) {
  *e = V_AVX512(getexp)(s);
  *m = V_AVX512(getmant)(s, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src);
}
V_INLINE V v_enter(V v, V w) { return (V)V_ALIGN((__m512i)v, (__m512i)w, V_WIDTH - 1); }
V_INLINE V v_leave(V v, V w) { return (V)V_ALIGN((__m512i)w, (__m512i)v, 1); }
V_INLINE V v_keep(V a) {
  __asm__("" : "+v"(a));
  return a;
}

#ifndef SDTW_SINGLE
/* Sixteen numbers in two registers: the entry that the last four bits of each lane name, which is
 * 2^0 or 2^(1 - i/16). */
#define V_TABLE
V_INLINE V v_look_up(V shown) {
  const V low = {1.0,
                 1.9152065613971474,
                 1.8340080864093424,
                 1.7562521603732995,
                 1.681792830507429,
                 1.6104903319492543,
                 1.5422108254079407,
                 1.4768261459394993};
  const V high = {1.4142135623730951, 1.3542555469368927, 1.2968395546510096, 1.241857812073484,
                  1.189207115002721,  1.1387886347566916, 1.0905077326652577, 1.0442737824274138};
  return (V)_mm512_permutex2var_pd(low, (__m512i)shown, high);
}
V_INLINE V v_sub_down(V a, V b) {
  return (V)_mm512_sub_round_pd(a, b, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
#endif
