/* Vector vocabulary, portable form: GNU vector extensions on 16-byte vectors.
 *
 * Every instruction set offers the same few operations under the same names, so that
 * kernels-template.h is written once. This form compiles on any gcc or clang (SSE2 on x86-64,
 * NEON on aarch64) and fills every slot of the dispatch table; the others only replace it.
 *
 *   V        a vector of V_WIDTH doubles          M    the result of a comparison
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

#define V_TARGET
#define V_INLINE static inline __attribute__((always_inline))
enum { V_WIDTH = 2 };

typedef double V __attribute__((vector_size(16)));
typedef int64_t M __attribute__((vector_size(16)));
typedef uint64_t v_bits __attribute__((vector_size(16)));

V_INLINE V v_set(double c) { return (V){c, c}; }
V_INLINE V v_load(const double *p) {
  V v;
  memcpy(&v, p, sizeof v);
  return v;
}
V_INLINE void v_store(double *p, V v) { memcpy(p, &v, sizeof v); }
V_INLINE void v_store_first(double *p, V v) { *p = v[0]; }
V_INLINE void v_store_last(double *p, V v) { *p = v[V_WIDTH - 1]; }
V_INLINE V v_select(M mask, V yes, V no) {
  return (V)((mask & (M)yes) | (~mask & (M)no));
}
V_INLINE M v_inside(V j, V lo, V hi) { return (lo <= j) & (j <= hi); }
V_INLINE M v_less_equal(V a, V b) { return a <= b; }
V_INLINE M v_both(M a, M b) { return a & b; }
V_INLINE V v_fma(V a, V b, V c) { return a * b + c; }
#if defined(__SSE2__)
V_INLINE V v_max(V a, V b) { return _mm_max_pd(a, b); }
V_INLINE V v_min(V a, V b) { return _mm_min_pd(a, b); }
V_INLINE V v_sqrt(V a) { return _mm_sqrt_pd(a); }
#else
V_INLINE V v_max(V a, V b) { return v_select(a > b, a, b); }
V_INLINE V v_min(V a, V b) { return v_select(a < b, a, b); }
V_INLINE V v_sqrt(V a) { return (V){sqrt(a[0]), sqrt(a[1])}; }
#endif
V_INLINE V v_abs(V a) { return (V)((v_bits)a & ((v_bits){0} + 0x7fffffffffffffffULL)); }
V_INLINE V v_round(V a) {
  const V magic = v_set(6755399441055744.0); /* 1.5 * 2^52: beyond 2^51 all numbers are whole */
  return v_select(v_abs(a) < v_set(2251799813685248.0), (a + magic) - magic, a);
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
V_INLINE V v_enter(V v, V w) { return (V){w[1], v[0]}; }
V_INLINE V v_leave(V v, V w) { return (V){v[1], w[0]}; }
V_INLINE V v_keep(V a) {
#if defined(__aarch64__)
  __asm__("" : "+w"(a));
#elif defined(__FMA__)
  __asm__("" : "+x"(a));
#endif
  return a;
}
