/* Numbers of any magnitude: mantissa * 2^exponent, the exponent a whole number of its own.
 *
 * A product of many coefficients leaves the range of a double long before the recurrence it belongs
 * to does, and Inf * 0 is no answer. Mantissas are 0 or in [1, 2) with a sign, so no step here can
 * overflow, and nothing is rounded but as a number of its type would be: a double, or a float where
 * SDTW_SINGLE is defined (precision.h). Logarithms are doubles in both.
 */
#ifndef SOFTDTW_CORE_SCALED_H
#define SOFTDTW_CORE_SCALED_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "precision.h"

#ifdef SDTW_SINGLE
typedef uint32_t sdtw_scaled_bits;
enum { SDTW_FRACTION_BITS = 23, SDTW_BIAS = 127 };
#define SDTW_REAL(name) name##f
#else
typedef uint64_t sdtw_scaled_bits;
enum { SDTW_FRACTION_BITS = 52, SDTW_BIAS = 1023 };
#define SDTW_REAL(name) name
#endif

typedef struct {
  sdtw_real mantissa;
  int64_t exponent;
} sdtw_scaled;

/* The exponent of 0 is below all others, so that sums need not ask for it. */
static const sdtw_scaled sdtw_scaled_zero = {0.0, -(INT64_C(1) << 60)};
static const sdtw_scaled sdtw_scaled_one = {1.0, 0};

static inline sdtw_scaled_bits sdtw_scaled_bits_of(sdtw_real m) {
  sdtw_scaled_bits bits;
  memcpy(&bits, &m, sizeof bits);
  return bits;
}

static inline sdtw_real sdtw_scaled_from_bits(sdtw_scaled_bits bits) {
  sdtw_real m;
  memcpy(&m, &bits, sizeof m);
  return m;
}

/* m * 2^e with the mantissa brought to [1, 2); m may be any finite number */
static inline sdtw_scaled sdtw_scaled_normal(sdtw_real m, int64_t e) {
  const sdtw_scaled_bits one = (sdtw_scaled_bits)SDTW_BIAS << SDTW_FRACTION_BITS;
  const sdtw_scaled_bits exponent = (sdtw_scaled_bits)(2 * SDTW_BIAS + 1) << SDTW_FRACTION_BITS;
  sdtw_scaled_bits bits = sdtw_scaled_bits_of(m);
  int64_t field = (int64_t)((bits & exponent) >> SDTW_FRACTION_BITS);
  if (field == 0) { /* 0, or below the normal range */
    if (m == 0) return sdtw_scaled_zero;
    int by;
    m = 2 * SDTW_REAL(frexp)(m, &by);
    return (sdtw_scaled){m, e + by - 1};
  }
  return (sdtw_scaled){sdtw_scaled_from_bits((bits & ~exponent) | one), e + field - SDTW_BIAS};
}

/* 2^-d for 0 <= d < SDTW_BIAS */
static inline sdtw_real sdtw_scaled_shift(int64_t d) {
  return sdtw_scaled_from_bits((sdtw_scaled_bits)(SDTW_BIAS - d) << SDTW_FRACTION_BITS);
}

static inline sdtw_scaled sdtw_scaled_product(sdtw_scaled x, sdtw_scaled y) {
  return sdtw_scaled_normal(x.mantissa * y.mantissa, x.exponent + y.exponent);
}

/* Without branches, as which of two numbers is larger cannot be foreseen. */
static inline sdtw_scaled sdtw_scaled_sum(sdtw_scaled x, sdtw_scaled y) {
  int64_t apart = x.exponent - y.exponent, far = apart < 0 ? -apart : apart;
  sdtw_real large = apart < 0 ? y.mantissa : x.mantissa;
  sdtw_real small = apart < 0 ? x.mantissa : y.mantissa;
  const int64_t nothing = SDTW_BIAS - 23; /* from here on a term adds nothing */
  sdtw_real sum = large + small * sdtw_scaled_shift(far < nothing ? far : nothing);
  return sdtw_scaled_normal(sum, apart < 0 ? y.exponent : x.exponent);
}

/* As a plain number: infinite above its range, 0 (or less exact) below. */
static inline sdtw_real sdtw_scaled_value(sdtw_scaled x) {
  int64_t e = x.exponent < -4000 ? -4000 : x.exponent > 4000 ? 4000 : x.exponent;
  return SDTW_REAL(ldexp)(x.mantissa, (int)e);
}

/* log - whole * ln 2. The first product has 33 + 20 bits and is exact; a logarithm so large that it
 * is not takes the slower way, so that results are right to some units in the last place however
 * large a logarithm is. */
static inline double sdtw_scaled_rest(double log, double whole) {
  if (fabs(whole) < 0x1p20) return (log - whole * 0x1.62e42feep-1) - whole * 0x1.a39ef35793c76p-33;
  return fma(-whole, 0x1.abc9e3b39803fp-56, fma(-whole, 0x1.62e42fefa39efp-1, log));
}

/* sign * exp(log) */
static inline sdtw_scaled sdtw_scaled_exp(double log, double sign) {
  const double magic = 0x1.8p52; /* adding it rounds to a whole number */
  if (log == -HUGE_VAL || sign == 0) return sdtw_scaled_zero;
  double whole = (log * 0x1.71547652b82fep0 + magic) - magic;
  sdtw_real m = SDTW_REAL(exp)((sdtw_real)sdtw_scaled_rest(log, whole));
  return sdtw_scaled_normal(sign < 0 ? -m : m, (int64_t)whole);
}

/* log |x|, with the mantissa within sqrt(2) of 1 so that the two terms never nearly cancel */
static inline double sdtw_scaled_log(sdtw_scaled x) {
  sdtw_real m = SDTW_REAL(fabs)(x.mantissa);
  if (m == 0) return -HUGE_VAL;
  int high = m > (sdtw_real)0x1.6a09e667f3bcdp0;
  double whole = (double)(x.exponent + high), part = SDTW_REAL(log)(high ? m / 2 : m);
  if (fabs(whole) < 0x1p20) return whole * 0x1.62e42feep-1 + (whole * 0x1.a39ef35793c76p-33 + part);
  return fma(whole, 0x1.62e42fefa39efp-1, whole * 0x1.abc9e3b39803fp-56 + part);
}

static inline double sdtw_scaled_sign(sdtw_scaled x) {
  return x.mantissa > 0 ? 1.0 : x.mantissa < 0 ? -1.0 : 0.0;
}

#endif
