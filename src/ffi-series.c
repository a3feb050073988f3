/* What is done to every series or number of a set before any is put to use. */
#include <limits.h>
#include <string.h>

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

/* ---- sets of plain vectors and matrices ----------------------------------------------------- */

static int is_plain(SEXP x) {
  SEXP dim = Rf_getAttrib(x, R_DimSymbol);
  if ((TYPEOF(x) != REALSXP && TYPEOF(x) != INTSXP) || Rf_isObject(x)) return 0;
  if (Rf_xlength(x) > INT_MAX) return 0;
  return Rf_isNull(dim) || (Rf_length(dim) == 2 && INTEGER(dim)[1] > 0);
}

/* From one dimension after another to one step after another, a cache line of a step at a time. */
static void copy_steps(const double *from, size_t steps, size_t d, double *out) {
  enum { AT_ONCE = 8 };
  for (size_t first = 0; first < d; first += AT_ONCE) {
    size_t end = first + AT_ONCE < d ? first + AT_ONCE : d;
    for (size_t t = 0; t < steps; t++) {
      for (size_t k = first; k < end; k++) out[t * d + k] = from[k * steps + t];
    }
  }
}

/* The numbers of one series, those of a time step together; from a matrix, transposed. */
static void copy_series(SEXP x, int steps, int d, double *out) {
  SEXP numbers = PROTECT(Rf_coerceVector(x, REALSXP));
  if (d > 1) {
    copy_steps(REAL_RO(numbers), (size_t)steps, (size_t)d, out);
  } else if (steps > 0) {
    memcpy(out, REAL_RO(numbers), (size_t)steps * sizeof(double));
  }
  UNPROTECT(1);
}

/* list(values, lengths, d, flat) of a list of nothing but plain numeric vectors and matrices; NULL
 * where there is anything else, which R code reads one by one. */
SEXP ffi_pack(SEXP list) {
  R_xlen_t count = Rf_xlength(list), total = 0;
  for (R_xlen_t i = 0; i < count; i++) {
    if (!is_plain(VECTOR_ELT(list, i))) return R_NilValue;
    total += Rf_xlength(VECTOR_ELT(list, i));
  }
  SEXP result[] = {PROTECT(Rf_allocVector(REALSXP, total)), PROTECT(Rf_allocVector(INTSXP, count)),
                   PROTECT(Rf_allocVector(INTSXP, count)), PROTECT(Rf_allocVector(LGLSXP, count))};
  double *out = REAL(result[0]);
  for (R_xlen_t i = 0; i < count; i++) {
    SEXP x = VECTOR_ELT(list, i), dim = Rf_getAttrib(x, R_DimSymbol);
    int flat = Rf_isNull(dim), d = flat ? 1 : INTEGER(dim)[1];
    int steps = flat ? (int)Rf_xlength(x) : INTEGER(dim)[0];
    copy_series(x, steps, d, out);
    out += (R_xlen_t)steps * d;
    INTEGER(result[1])[i] = steps;
    INTEGER(result[2])[i] = d;
    LOGICAL(result[3])[i] = flat;
  }
  const char *const names[] = {"values", "lengths", "d", "flat"};
  SEXP packed = named_list(4, names, result);
  UNPROTECT(4);
  return packed;
}
