/* Nearest neighbours. */
#include "ffi.h"

/* Keeps the k nearest of x's series for each series of `query` (of x itself when that is NULL). */
SEXP ffi_knn(SEXP x, SEXP query, SEXP k, SEXP opts, SEXP own_x, SEXP own_query) {
  sdtw_options options = parse_options(opts);
  int self = Rf_isNull(query);
  sdtw_job job = {.kind = SDTW_KNN, .options = options, .k = Rf_asInteger(k)};
  job.y = parse_set(x, &options);
  job.x = self ? job.y : parse_set(query, &options);
  job.own_y = Rf_isNull(own_x) ? NULL : REAL_RO(own_x);
  job.own_x = self ? job.own_y : Rf_isNull(own_query) ? NULL : REAL_RO(own_query);
  int queries = (int)job.x->count;
  SEXP results[2] = {PROTECT(Rf_allocMatrix(INTSXP, queries, job.k)),
                     PROTECT(Rf_allocMatrix(REALSXP, queries, job.k))};
  job.index = INTEGER(results[0]);
  job.distance = REAL(results[1]);
  run_job(&job, opts);
  const char *const names[] = {"index", "distance"};
  SEXP list = named_list(2, names, results);
  UNPROTECT(2);
  return list;
}
