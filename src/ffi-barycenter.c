/* One series against many: the barycenter's objective and gradient, and the spread around it. */
#include "ffi.h"

static sdtw_job reduce_job(SEXP z, SEXP x, SEXP weights, const sdtw_options *options) {
  sdtw_job job = {.kind = SDTW_REDUCE, .options = *options, .weights = REAL_RO(weights)};
  job.x = parse_set(z, options);
  job.y = parse_set(x, options);
  return job;
}

SEXP ffi_barycenter(SEXP z, SEXP x, SEXP weights, SEXP opts) {
  sdtw_options options = parse_options(opts);
  sdtw_job job = reduce_job(z, x, weights, &options);
  SEXP results[2] = {PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)job.y->count)),
                     PROTECT(zero_matrix(job.x->length[0], (int)job.x->d))};
  job.value = REAL(results[0]);
  job.sum_x = REAL(results[1]);
  run_job(&job, opts);
  chain_unit(&options, z, 0, job.sum_x);
  const char *const names[] = {"value", "grad"};
  SEXP list = named_list(2, names, results);
  UNPROTECT(2);
  return list;
}

/* With the cosine cost, squares are of differences between unit vectors. */
SEXP ffi_spread(SEXP z, SEXP x, SEXP weights, SEXP opts) {
  sdtw_options options = parse_options(opts);
  sdtw_job job = reduce_job(z, x, weights, &options);
  int n = job.x->length[0];
  SEXP results[2] = {PROTECT(Rf_allocVector(REALSXP, n)), PROTECT(zero_matrix(n, (int)job.x->d))};
  job.value = (double *)R_alloc(job.y->count, sizeof(double));
  job.mass = REAL(results[0]);
  job.square = REAL(results[1]);
  run_job(&job, opts);
  const char *const names[] = {"mass", "square"};
  SEXP list = named_list(2, names, results);
  UNPROTECT(2);
  return list;
}
