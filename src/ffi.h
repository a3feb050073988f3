/* Shared by the ffi-*.c files, the only ones that see R: turning R objects into the core's structs,
 * running a job on scratch memory that R owns, and letting the user interrupt it. */
#ifndef SOFTDTW_FFI_H
#define SOFTDTW_FFI_H

#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>

#include "core/engine.h"

SEXP list_element(SEXP list, const char *name);
/* list(<names[0]> = values[0], ...); the values need not be protected any longer afterwards */
SEXP named_list(int n, const char *const *names, SEXP *values);

sdtw_options parse_options(SEXP opts);
/* A softdtw_series as the core sees it; with the cosine cost its values are unit vectors. */
sdtw_set *parse_set(SEXP series, const sdtw_options *options);

/* Plans, allocates and runs on the engine that opts names; raises an R interrupt when the user
 * asked for one, an R error when the engine failed. */
void run_job(const sdtw_job *job, SEXP opts);

/* For work that is no sdtw_job: whether opts name CUDA; a monitor that watches for interrupts only;
 * what is to be raised after SDTW_STOPPED and SDTW_FAILED. */
int wants_cuda(SEXP opts);
sdtw_monitor user_monitor(void);
void raise_interrupt(void);
void raise_failure(const sdtw_error *error);

/* The kind of a failure as the class of the R error says it. */
const char *failure_name(const sdtw_error *error);

/* For the cosine cost: from gradients of unit vectors to those of the points; else nothing. */
void chain_unit(const sdtw_options *options, SEXP series, size_t which, double *gradient);

SEXP zero_matrix(int rows, int columns);

#endif
