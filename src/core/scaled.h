/* Numbers of any magnitude: mantissa * 2^exponent, the exponent a whole number of its own.
 *
 * A product of many coefficients leaves the range of a double long before the recurrence it belongs
 * to does, and Inf * 0 is no answer. Mantissas are 0 or in [1, 2) with a sign, so no step here can
 * overflow, and nothing is rounded but as a double would be.
 */
#ifndef SOFTDTW_CORE_SCALED_H
#define SOFTDTW_CORE_SCALED_H

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef struct {
  double mantissa;
  int64_t exponent;
} sdtw_scaled;

/* The exponent of 0 is below all others, so that sums need not ask for it. */
static const sdtw_scaled sdtw_scaled_zero = {0.0, -(INT64_C(1) << 60)};
static const sdtw_scaled sdtw_scaled_one = {1.0, 0};

/* m * 2^e with the mantissa brought to [1, 2); m may be any finite number */
static inline sdtw_scaled sdtw_scaled_normal(double m, int64_t e) {
  uint64_t bits;
  memcpy(&bits, &m, sizeof bits);
  int64_t field = (int64_t)(bits >> 52 & 0x7ff);
  if (field == 0) { /* 0, or below the normal range */
    if (m == 0) return sdtw_scaled_zero;
    int by;
    m = 2 * frexp(m, &by);
    return (sdtw_scaled){m, e + by - 1};
  }
  bits = (bits & 0x800fffffffffffffULL) | 0x3ff0000000000000ULL;
  memcpy(&m, &bits, sizeof m);
  return (sdtw_scaled){m, e + field - 1023};
}

/* 2^-d for 0 <= d <= 1022 */
static inline double sdtw_scaled_shift(int64_t d) {
  uint64_t bits = (uint64_t)(1023 - d) << 52;
  double power;
  memcpy(&power, &bits, sizeof power);
  return power;
}

static inline sdtw_scaled sdtw_scaled_product(sdtw_scaled x, sdtw_scaled y) {
  return sdtw_scaled_normal(x.mantissa * y.mantissa, x.exponent + y.exponent);
}

/* Without branches, as which of two numbers is larger cannot be foreseen. */
static inline sdtw_scaled sdtw_scaled_sum(sdtw_scaled x, sdtw_scaled y) {
  int64_t apart = x.exponent - y.exponent, far = apart < 0 ? -apart : apart;
  double large = apart < 0 ? y.mantissa : x.mantissa, small = apart < 0 ? x.mantissa : y.mantissa;
  double sum = large + small * sdtw_scaled_shift(far < 1000 ? far : 1000);
  return sdtw_scaled_normal(sum, apart < 0 ? y.exponent : x.exponent);
}

/* As a double: infinite above its range, 0 (or less exact) below. */
static inline double sdtw_scaled_value(sdtw_scaled x) {
  int64_t e = x.exponent < -4000 ? -4000 : x.exponent > 4000 ? 4000 : x.exponent;
  return ldexp(x.mantissa, (int)e);
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
  double m = exp(sdtw_scaled_rest(log, whole));
  return sdtw_scaled_normal(sign < 0 ? -m : m, (int64_t)whole);
}

/* log |x|, with the mantissa within sqrt(2) of 1 so that the two terms never nearly cancel */
static inline double sdtw_scaled_log(sdtw_scaled x) {
  double m = fabs(x.mantissa);
  if (m == 0) return -HUGE_VAL;
  int high = m > 0x1.6a09e667f3bcdp0;
  double whole = (double)(x.exponent + high), part = log(high ? 0.5 * m : m);
  if (fabs(whole) < 0x1p20) return whole * 0x1.62e42feep-1 + (whole * 0x1.a39ef35793c76p-33 + part);
  return fma(whole, 0x1.62e42fefa39efp-1, whole * 0x1.abc9e3b39803fp-56 + part);
}

static inline double sdtw_scaled_sign(sdtw_scaled x) {
  return x.mantissa > 0 ? 1.0 : x.mantissa < 0 ? -1.0 : 0.0;
}

#endif
