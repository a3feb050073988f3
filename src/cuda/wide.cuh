/* Numbers of any magnitude, as core/scaled.h has them: mantissa * 2^exponent, mantissas 0 or in
 * [1, 2) with a sign. The exponent is a whole number of 64 bits: with logarithms as input it counts
 * up to 2^52. Infinite and undefined mantissas stay what they are, so that they can be seen at the
 * end. */
#ifndef SOFTDTW_CUDA_WIDE_CUH
#define SOFTDTW_CUDA_WIDE_CUH

#include "number.cuh"

template <class T>
struct wide {
  T mantissa;
  long long exponent;
};

/* The exponent of 0 is below all others, so that sums need not ask for it. */
template <class T>
SDTW_DEVICE wide<T> wide_zero() {
  wide<T> z = {T(0), -(1LL << 60)};
  return z;
}

template <class T>
SDTW_DEVICE bool is_finite(T v) {
  return fabs(v) <= -number<T>::lowest;
}

/* m * 2^e with the mantissa brought to [1, 2). */
template <class T>
SDTW_DEVICE wide<T> wide_of(T m, long long e) {
  typedef typename number<T>::bits bits;
  const bits exponent = (bits)(2 * number<T>::bias + 1) << number<T>::fraction_bits;
  if (m == T(0)) return wide_zero<T>();
  bits b = bits_of(m);
  if ((b & exponent) == 0) { /* below the normal range */
    b = bits_of(m * number<T>::unit);
    e -= number<T>::fraction_bits;
  }
  if ((b & exponent) == exponent) {
    wide<T> z = {m, 0};
    return z;
  }
  wide<T> z = {from_bits((bits)((b & ~exponent) | bits_of(T(1)))),
               e + (long long)((b & exponent) >> number<T>::fraction_bits) - number<T>::bias};
  return z;
}

template <class T>
SDTW_DEVICE wide<T> wide_product(wide<T> x, wide<T> y) {
  return wide_of(x.mantissa * y.mantissa, x.exponent + y.exponent);
}

template <class T>
SDTW_DEVICE wide<T> wide_sum(wide<T> x, wide<T> y) {
  typedef typename number<T>::bits bits;
  const long long nothing = number<T>::bias - 23; /* from here on a term adds nothing */
  const bool swap = x.exponent < y.exponent;
  const wide<T> large = swap ? y : x, small = swap ? x : y;
  long long far = large.exponent - small.exponent;
  far = far < nothing ? far : nothing;
  const T shift = from_bits((bits)((bits)(number<T>::bias - far) << number<T>::fraction_bits));
  return wide_of(large.mantissa + product(small.mantissa, shift), large.exponent);
}

/* As a plain number: infinite above its range, 0 (or less exact) below. */
template <class T>
SDTW_DEVICE T wide_value(wide<T> x) {
  const long long e = x.exponent < -4000 ? -4000 : x.exponent > 4000 ? 4000 : x.exponent;
  return ldexp(x.mantissa, (int)e);
}

/* ---- logarithms ---------------------------------------------------------------------------- */

SDTW_DEVICE float exp_of(float v) { return expf(v); }
SDTW_DEVICE double exp_of(double v) { return exp(v); }
SDTW_DEVICE float log_of(float v) { return logf(v); }
SDTW_DEVICE double log_of(double v) { return log(v); }

/* log - whole * ln 2. The first product has 33 + 20 bits and is exact; a logarithm so large that it
 * is not takes the slower way. */
SDTW_DEVICE double wide_rest(double log, double whole) {
  if (fabs(whole) < 0x1p20) return (log - whole * 0x1.62e42feep-1) - whole * 0x1.a39ef35793c76p-33;
  return fma(-whole, 0x1.abc9e3b39803fp-56, fma(-whole, 0x1.62e42fefa39efp-1, log));
}

/* sign * exp(log) */
template <class T>
SDTW_DEVICE wide<T> wide_exp(double log, double sign) {
  const double magic = 0x1.8p52; /* adding it rounds to a whole number */
  if (log == -(double)INFINITY || sign == 0) return wide_zero<T>();
  const double whole = (log * 0x1.71547652b82fep0 + magic) - magic;
  const T m = exp_of((T)wide_rest(log, whole));
  return wide_of(sign < 0 ? -m : m, (long long)whole);
}

/* log |x|, with the mantissa within sqrt(2) of 1 so that the two terms never nearly cancel */
template <class T>
SDTW_DEVICE double wide_log(wide<T> x) {
  const T m = fabs(x.mantissa);
  if (m == T(0)) return -(double)INFINITY;
  const bool high = m > T(0x1.6a09e667f3bcdp0);
  const double whole = (double)(x.exponent + (high ? 1 : 0));
  const double part = (double)log_of(high ? m / 2 : m);
  if (fabs(whole) < 0x1p20) return whole * 0x1.62e42feep-1 + (whole * 0x1.a39ef35793c76p-33 + part);
  return fma(whole, 0x1.62e42fefa39efp-1, whole * 0x1.abc9e3b39803fp-56 + part);
}

template <class T>
SDTW_DEVICE double wide_sign(wide<T> x) {
  return x.mantissa > T(0) ? 1.0 : x.mantissa < T(0) ? -1.0 : 0.0;
}

#endif
