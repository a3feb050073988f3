/* Value and expected alignment of one pair of series, or of a cost matrix. */
#include "ffi.h"

static SEXP align(sdtw_job *job, SEXP opts, int n, int m) {
  SEXP results[2] = {PROTECT(Rf_allocVector(REALSXP, 1)), PROTECT(zero_matrix(n, m))};
  job->kind = SDTW_ALIGNMENT;
  job->value = REAL(results[0]);
  job->alignment = REAL(results[1]);
  run_job(job, opts);
  const char *const names[] = {"value", "alignment"};
  SEXP list = named_list(2, names, results);
  UNPROTECT(2);
  return list;
}

SEXP ffi_alignment(SEXP x, SEXP y, SEXP opts) {
  sdtw_options options = parse_options(opts);
  sdtw_job job = {.options = options};
  job.x = parse_set(x, &options);
  job.y = parse_set(y, &options);
  return align(&job, opts, job.x->length[0], job.y->length[0]);
}

SEXP ffi_cost(SEXP cost, SEXP opts) {
  sdtw_job job = {.options = parse_options(opts)};
  int n = Rf_nrows(cost), m = Rf_ncols(cost);
  job.options.cost = SDTW_SQEUCLIDEAN; /* the matrix holds the costs as they are */
  job.given_cost = REAL_RO(cost);
  job.given_n = (size_t)n;
  job.given_m = (size_t)m;
  return align(&job, opts, n, m);
}
