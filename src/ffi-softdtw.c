/* Values of paired series. */
#include "ffi.h"

SEXP ffi_softdtw(SEXP x, SEXP y, SEXP opts) {
  sdtw_options options = parse_options(opts);
  sdtw_job job = {.kind = SDTW_PAIRS, .options = options};
  job.x = parse_set(x, &options);
  job.y = parse_set(y, &options);
  size_t pairs = job.x->count > job.y->count ? job.x->count : job.y->count;
  SEXP value = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)pairs));
  job.value = REAL(value);
  run_job(&job, opts);
  UNPROTECT(1);
  return value;
}
