/* Vector vocabulary for AVX2 with FMA; the operations are explained in vec-generic.h.
 * The instruction set is asked for by function attribute, never by a compiler flag: objects of
 * the other variants stay runnable on any processor. */
#include <immintrin.h>
#include <stdint.h>

#include "precision.h"

#define V_TARGET __attribute__((target("avx2,fma")))
#define V_INLINE static inline __attribute__((always_inline, target("avx2,fma")))

typedef sdtw_real V __attribute__((vector_size(32)));
#ifdef SDTW_SINGLE
enum { V_WIDTH = 8 };
typedef int32_t M __attribute__((vector_size(32)));
typedef uint32_t v_bits __attribute__((vector_size(32)));
#define V_AVX(name) _mm256_##name##_ps
#else
enum { V_WIDTH = 4 };
typedef int64_t M __attribute__((vector_size(32)));
typedef uint64_t v_bits __attribute__((vector_size(32)));
#define V_AVX(name) _mm256_##name##_pd
#endif

/* Plain names for single instructions: as inlined functions they would make a quarter of all
 * debugging information. */
#define v_set V_AVX(set1)
#define v_load V_AVX(loadu)
#define v_store V_AVX(storeu)
#define v_fma V_AVX(fmadd)
#define v_max V_AVX(max)
#define v_min V_AVX(min)
#define v_sqrt V_AVX(sqrt)

V_INLINE void v_store_first(sdtw_real *p, V v) { *p = v[0]; }
V_INLINE void v_store_last(sdtw_real *p, V v) { *p = v[V_WIDTH - 1]; }
V_INLINE V v_select(M mask, V yes, V no) { return V_AVX(blendv)(no, yes, (V)mask); }
V_INLINE M v_less_equal(V a, V b) { return (M)V_AVX(cmp)(a, b, _CMP_LE_OQ); }
V_INLINE M v_inside(V j, V lo, V hi) { return v_less_equal(lo, j) & v_less_equal(j, hi); }
V_INLINE V v_round(V a) { return V_AVX(round)(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
V_INLINE V v_keep(V a) {
  __asm__("" : "+x"(a));
  return a;
}

#include "vec-bits.h"

/* The halves are joined crosswise first, as the shuffles work within halves only. */
#ifdef SDTW_SINGLE
V_INLINE V v_enter(V v, V w) {
  V crossed = _mm256_permute2f128_ps(w, v, 0x21); /* {w4..w7, v0..v3} */
  return (V)_mm256_alignr_epi8((__m256i)v, (__m256i)crossed, 12);
}
V_INLINE V v_leave(V v, V w) {
  V crossed = _mm256_permute2f128_ps(v, w, 0x21); /* {v4..v7, w0..w3} */
  return (V)_mm256_alignr_epi8((__m256i)crossed, (__m256i)v, 4);
}
#else
V_INLINE V v_enter(V v, V w) {
  V crossed = _mm256_permute2f128_pd(w, v, 0x21); /* {w2, w3, v0, v1} */
  return _mm256_shuffle_pd(crossed, v, 0x5);
}
V_INLINE V v_leave(V v, V w) {
  V crossed = _mm256_permute2f128_pd(v, w, 0x21); /* {v2, v3, w0, w1} */
  return _mm256_shuffle_pd(v, crossed, 0x5);
}
#endif
