/* All pairs of a set, or of two sets: full matrix and packed lower triangle. */
#include "ffi.h"

static const double *own_values(SEXP own) { return Rf_isNull(own) ? NULL : REAL_RO(own); }

SEXP ffi_matrix(SEXP x, SEXP y, SEXP opts, SEXP own_x, SEXP own_y) {
  sdtw_options options = parse_options(opts);
  int self = Rf_isNull(y);
  sdtw_job job = {.kind = SDTW_MATRIX, .options = options};
  job.x = parse_set(x, &options);
  job.y = self ? job.x : parse_set(y, &options);
  job.own_x = own_values(own_x);
  job.own_y = self ? job.own_x : own_values(own_y);
  SEXP value = PROTECT(Rf_allocMatrix(REALSXP, (int)job.x->count, (int)job.y->count));
  job.value = REAL(value);
  run_job(&job, opts);
  UNPROTECT(1);
  return value;
}

SEXP ffi_dist(SEXP x, SEXP opts, SEXP own_x) {
  sdtw_options options = parse_options(opts);
  sdtw_job job = {.kind = SDTW_DIST, .options = options};
  job.x = job.y = parse_set(x, &options);
  job.own_x = job.own_y = own_values(own_x);
  R_xlen_t n = (R_xlen_t)job.x->count;
  SEXP value = PROTECT(Rf_allocVector(REALSXP, n * (n - 1) / 2));
  job.value = REAL(value);
  run_job(&job, opts);
  UNPROTECT(1);
  return value;
}
