/* Vector vocabulary, portable form: GNU vector extensions on 16-byte vectors.
 *
 * Every instruction set offers the same few operations under the same names, so that
 * kernels-template.h is written once. This form compiles on any gcc or clang (SSE2 on x86-64,
 * NEON on aarch64); the others replace it where the processor has more.
 *
 *   V        a vector of V_WIDTH reals            M    the result of a comparison
 *   v_enter  lanes move up by one, the last lane of w enters below: {w[last], v[0], v[1], ...}
 *   v_leave  lanes move down by one, the first lane of w enters above: {v[1], ..., w[0]}
 *   v_scale  m * 2^d for whole d <= 0; far below the range it is 0
 *   v_split  s > 0 into a mantissa in [1, 2) and its exponent
 *   v_keep   keeps a product from being fused into a later sum, so that sums stay symmetric
 */
#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "precision.h"

#define V_TARGET
#define V_INLINE static inline __attribute__((always_inline))

typedef sdtw_real V __attribute__((vector_size(16)));
#ifdef SDTW_SINGLE
enum { V_WIDTH = 4 };
typedef int32_t M __attribute__((vector_size(16)));
typedef uint32_t v_bits __attribute__((vector_size(16)));
#define V_SSE(name) _mm_##name##_ps
#else
enum { V_WIDTH = 2 };
typedef int64_t M __attribute__((vector_size(16)));
typedef uint64_t v_bits __attribute__((vector_size(16)));
#define V_SSE(name) _mm_##name##_pd
#endif

V_INLINE V v_set(sdtw_real c) { return c - (V){0}; }
V_INLINE V v_load(const sdtw_real *p) {
  V v;
  memcpy(&v, p, sizeof v);
  return v;
}
V_INLINE void v_store(sdtw_real *p, V v) { memcpy(p, &v, sizeof v); }
V_INLINE void v_store_first(sdtw_real *p, V v) { *p = v[0]; }
V_INLINE void v_store_last(sdtw_real *p, V v) { *p = v[V_WIDTH - 1]; }
V_INLINE V v_select(M mask, V yes, V no) { return (V)((mask & (M)yes) | (~mask & (M)no)); }
V_INLINE M v_inside(V j, V lo, V hi) { return (lo <= j) & (j <= hi); }
V_INLINE M v_less_equal(V a, V b) { return a <= b; }
#define v_fma(a, b, c) ((a) * (b) + (c))
V_INLINE V v_keep(V a) {
#if defined(__aarch64__)
  __asm__("" : "+w"(a));
#elif defined(__FMA__)
  __asm__("" : "+x"(a));
#endif
  return a;
}

#if defined(__SSE2__)
#define v_max V_SSE(max)
#define v_min V_SSE(min)
#define v_sqrt V_SSE(sqrt)
#else
V_INLINE V v_max(V a, V b) { return v_select(a > b, a, b); }
V_INLINE V v_min(V a, V b) { return v_select(a < b, a, b); }
V_INLINE V v_sqrt(V a) {
  for (int l = 0; l < V_WIDTH; l++) a[l] = (sdtw_real)sqrt((double)a[l]);
  return a;
}
#endif

#include "vec-bits.h"

V_INLINE V v_round(V a) {
  const V magic = v_set((sdtw_real)(1.5 * V_WHOLE)); /* all numbers beyond V_WHOLE / 2 are whole */
  return v_select(v_abs(a) < v_set((sdtw_real)(0.5 * V_WHOLE)), (a + magic) - magic, a);
}

#ifdef SDTW_SINGLE
V_INLINE V v_enter(V v, V w) { return (V){w[3], v[0], v[1], v[2]}; }
V_INLINE V v_leave(V v, V w) { return (V){v[1], v[2], v[3], w[0]}; }
#else
V_INLINE V v_enter(V v, V w) { return (V){w[1], v[0]}; }
V_INLINE V v_leave(V v, V w) { return (V){v[1], w[0]}; }
#endif
