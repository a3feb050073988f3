/* Values and gradients of paired series. */
#include "ffi.h"

/* A zeroed matrix for the gradient of each pair; where[p] points into it. */
static SEXP gradient_list(const sdtw_set *set, size_t pairs, double **where) {
  SEXP list = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)pairs));
  for (size_t p = 0; p < pairs; p++) {
    SEXP matrix = zero_matrix(set->length[set->count == 1 ? 0 : p], (int)set->d);
    SET_VECTOR_ELT(list, (R_xlen_t)p, matrix);
    where[p] = REAL(matrix);
  }
  UNPROTECT(1);
  return list;
}

static void chain_all(const sdtw_options *options, SEXP series, size_t count, size_t pairs,
                      double **where) {
  if (!where) return;
  for (size_t p = 0; p < pairs; p++) chain_unit(options, series, count == 1 ? 0 : p, where[p]);
}

SEXP ffi_grad(SEXP x, SEXP y, SEXP opts, SEXP want_x, SEXP want_y) {
  sdtw_options options = parse_options(opts);
  sdtw_job job = {.kind = SDTW_PAIRS, .options = options};
  job.x = parse_set(x, &options);
  job.y = parse_set(y, &options);
  size_t pairs = job.x->count > job.y->count ? job.x->count : job.y->count;
  SEXP results[3] = {PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)pairs)), R_NilValue, R_NilValue};
  job.value = REAL(results[0]);
  if (Rf_asLogical(want_x)) {
    job.grad_x = (double **)R_alloc(pairs, sizeof(double *));
    results[1] = gradient_list(job.x, pairs, job.grad_x);
  }
  PROTECT(results[1]);
  if (Rf_asLogical(want_y)) {
    job.grad_y = (double **)R_alloc(pairs, sizeof(double *));
    results[2] = gradient_list(job.y, pairs, job.grad_y);
  }
  PROTECT(results[2]);
  run_job(&job, opts);
  chain_all(&options, x, job.x->count, pairs, job.grad_x);
  chain_all(&options, y, job.y->count, pairs, job.grad_y);
  const char *const names[] = {"value", "grad_x", "grad_y"};
  SEXP list = named_list(3, names, results);
  UNPROTECT(3);
  return list;
}
