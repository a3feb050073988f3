/* Scaled numbers and the one cell function that the forward and the backward pass share.
 *
 * Z_ij = 2^-cost (Z_{i-1,j} + Z_{i,j-1} + Z_{i-1,j-1}) leaves every floating-point range at once,
 * so each Z is a mantissa in [1, 2) and an exponent in a number of the same type: whole numbers are
 * exact up to 2^24 (2^53) there and lose digits gracefully beyond, where an int would overflow
 * without a word. Unreachable is mantissa 0 with the lowest exponent. See core/kernels-template.h,
 * whose operations these are, in the same order: (up + left) + diagonal, so that swapping the
 * series gives the same bits.
 *
 * A soft cell takes, in instructions of the type: round and fraction 5, exponent maximum 2, three
 * aligned terms 3 x 4 and two sums, 2^f (single: one on the special-function unit; double: a
 * polynomial of 11), one product, normalising 6. About 28 slots and 1 special function in single,
 * 38 in double.
 */
#ifndef SOFTDTW_CUDA_NUMBER_CUH
#define SOFTDTW_CUDA_NUMBER_CUH

#include <cfloat>
#include <cstdint>

#include "runtime.cuh"

/* ---- bits ---------------------------------------------------------------------------------- */

template <class T>
struct number;

template <>
struct number<float> {
  typedef uint32_t bits;
  enum { fraction_bits = 23, bias = 127 };
  static constexpr float lowest = -FLT_MAX;
  static constexpr float unit = 8388608.0f; /* 2^23: numbers from here on are whole */
};

template <>
struct number<double> {
  typedef uint64_t bits;
  enum { fraction_bits = 52, bias = 1023 };
  static constexpr double lowest = -DBL_MAX;
  static constexpr double unit = 4503599627370496.0; /* 2^52 */
};

SDTW_DEVICE uint32_t bits_of(float v) { return __float_as_uint(v); }
SDTW_DEVICE uint64_t bits_of(double v) { return (uint64_t)__double_as_longlong(v); }
SDTW_DEVICE float from_bits(uint32_t b) { return __uint_as_float(b); }
SDTW_DEVICE double from_bits(uint64_t b) { return __longlong_as_double((long long)b); }

/* A product that no compiler fuses into a later sum: sums stay symmetric. */
SDTW_DEVICE float product(float a, float b) { return __fmul_rn(a, b); }
SDTW_DEVICE double product(double a, double b) { return __dmul_rn(a, b); }

template <class T>
SDTW_DEVICE T largest(T a, T b, T c) {
  return greater(greater(a, b), c);
}

/* The nearest whole number, by the one addition that leaves no room for a fraction: rint() is an
 * instruction of a slow pipe. */
template <class T>
SDTW_DEVICE T nearest_whole(T v) {
  const T magic = T(1.5) * number<T>::unit;
  return fabs(v) < T(0.5) * number<T>::unit ? (v + magic) - magic : v;
}

/* 2^k for whole k <= 0; 0 where that is below the normal range. */
template <class T>
SDTW_DEVICE T power_of_two(T k) {
  T shifted = greater(k, T(-number<T>::bias)) + (number<T>::unit + T(number<T>::bias));
  return from_bits((typename number<T>::bits)(bits_of(shifted) << number<T>::fraction_bits));
}

/* 2^f for f in [-1/2, 1/2], exactly 1 at 0. */
SDTW_DEVICE float exp2_fraction(float f) {
#if defined(__CUDA_ARCH__)
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(f)); /* error 2 ulp; nothing here is denormal */
  return r;
#else
  return exp2f(f);
#endif
}

/* The polynomial of core/kernels-template.h: 1 + f q(f), relative error 2e-17 before rounding. */
SDTW_DEVICE double exp2_fraction(double f) {
  double f2 = f * f, f4 = f2 * f2;
  double q01 = fused(0.24022650695910097, f, 0.6931471805599457);
  double q23 = fused(0.009618129107607003, f, 0.05550410866479039);
  double q45 = fused(0.0001540353044157213, f, 0.0013333558153439966);
  double q67 = fused(1.3215442675329823e-06, f, 1.5252727385193868e-05);
  double q89 = fused(7.072570412814423e-09, f, 1.0180647659234139e-07);
  double q0 = fused(q23, f2, q01), q4 = fused(q67, f2, q45);
  double q8 = fused(4.078071929588337e-10, f2, q89);
  return fused(f, fused(fused(q8, f4, q4), f4, q0), 1.0);
}

/* ---- cells --------------------------------------------------------------------------------- */

template <class T>
struct alignas(2 * sizeof(T)) scaled {
  T mantissa, exponent;
};

/* The part of each neighbour in a cell's sum; in hard DTW one is 1. */
template <class T>
struct shares {
  T up, left, diagonal;
};

/* Hard DTW keeps the value itself as the mantissa. */
template <class T, bool Hard>
SDTW_DEVICE scaled<T> unreachable() {
  scaled<T> z = {Hard ? T(INFINITY) : T(0), number<T>::lowest};
  return z;
}

template <class T, bool Hard>
SDTW_DEVICE scaled<T> origin() {
  scaled<T> z = {Hard ? T(0) : T(1), T(0)};
  return z;
}

template <class T>
SDTW_DEVICE scaled<T> normalised(T sum, T exponent) {
  typedef typename number<T>::bits bits;
  const bits one = bits_of(T(1)), b = bits_of(sum);
  const bits fraction = (bits(1) << number<T>::fraction_bits) - 1;
  T e = from_bits((bits)((b >> number<T>::fraction_bits) | bits_of(number<T>::unit)));
  scaled<T> z = {from_bits((bits)((b & fraction) | one)),
                 exponent + (e - (number<T>::unit + T(number<T>::bias)))};
  return z;
}

template <bool Keep, class T>
SDTW_DEVICE scaled<T> soft_cell(scaled<T> up, scaled<T> left, scaled<T> diagonal, T cost,
                                shares<T> *s) {
  T whole = nearest_whole(cost);
  T top = largest(up.exponent, left.exponent, diagonal.exponent);
  T from_up = up.mantissa * power_of_two(up.exponent - top);
  T from_left = left.mantissa * power_of_two(left.exponent - top);
  T from_diagonal = diagonal.mantissa * power_of_two(diagonal.exponent - top);
  T sum = (from_up + from_left) + from_diagonal;
  if (Keep) {
    T inverse = T(1) / sum;
    s->up = from_up * inverse;
    s->left = from_left * inverse;
    s->diagonal = from_diagonal * inverse;
  }
  return normalised(product(sum, exp2_fraction(whole - cost)), top - whole);
}

/* Ties go to the diagonal, then up, then left. */
template <bool Keep, class T>
SDTW_DEVICE scaled<T> hard_cell(scaled<T> up, scaled<T> left, scaled<T> diagonal, T cost,
                                shares<T> *s) {
  T least = lesser(up.mantissa, left.mantissa);
  if (Keep) {
    bool is_diagonal = diagonal.mantissa <= least, is_up = up.mantissa <= left.mantissa;
    s->diagonal = is_diagonal ? T(1) : T(0);
    s->up = !is_diagonal && is_up ? T(1) : T(0);
    s->left = !is_diagonal && !is_up ? T(1) : T(0);
  }
  scaled<T> z = {lesser(least, diagonal.mantissa) + cost, up.exponent};
  return z;
}

template <bool Hard, bool Keep, class T>
SDTW_DEVICE scaled<T> cell(scaled<T> up, scaled<T> left, scaled<T> diagonal, T cost, shares<T> *s) {
  return Hard ? hard_cell<Keep>(up, left, diagonal, cost, s)
              : soft_cell<Keep>(up, left, diagonal, cost, s);
}

#endif
