/* What is asked of every number of a set, before any is put to use. */
#include "ffi.h"

/* 2 x d: the least and the largest value of each dimension, NA where one is missing. `values` holds
 * the d numbers of a time step together. */
SEXP ffi_range(SEXP values, SEXP dimensions) {
  int d = Rf_asInteger(dimensions);
  SEXP range = PROTECT(Rf_allocMatrix(REALSXP, 2, d));
  double *low = REAL(range), *high = low + 1;
  for (int k = 0; k < d; k++) {
    low[2 * k] = R_PosInf;
    high[2 * k] = R_NegInf;
  }
  const double *value = REAL_RO(values), *end = value + Rf_xlength(values);
  while (value < end) {
    for (int k = 0; k < 2 * d; k += 2, value++) {
      if (*value < low[k]) low[k] = *value;
      if (*value > high[k]) high[k] = *value;
      if (*value != *value) low[k] = high[k] = NA_REAL;
    }
  }
  UNPROTECT(1);
  return range;
}
