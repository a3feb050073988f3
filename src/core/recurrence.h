/* Linear recurrences x_t = a_t x_{t-1} + b_t, over many sequences or within one long one.
 *
 * The job is a plain description that any engine can carry out: where each coefficient lies, as
 * strides, and where each result goes. A stride of 0 repeats a coefficient, negative ones run a
 * recurrence from its end. Coefficients may have any sign and may be 0; with `logs` they and the
 * results are logarithms of magnitudes, with signs beside them where there are any.
 */
#ifndef SOFTDTW_CORE_RECURRENCE_H
#define SOFTDTW_CORE_RECURRENCE_H

#include <stddef.h>

#include "engine.h"

/* A number for each step t and sequence (i, o), at t * step + i * inner + o * outer. */
typedef struct {
  ptrdiff_t step, inner, outer;
} sdtw_strides;

typedef struct {
  const double *value; /* with `logs`: log |number| */
  const double *sign;  /* only with `logs`: -1, 0 or 1; NULL where all are positive */
  sdtw_strides by;
} sdtw_stream;

typedef struct {
  double *value, *sign; /* sign: only with `logs`; NULL where no input has one */
  sdtw_strides by;
} sdtw_sink;

typedef struct {
  size_t steps, inner, outer; /* there are inner * outer sequences */
  sdtw_stream a, b, x0;       /* x0.by.step is not used */
  sdtw_sink out;
  int logs, threads;
  int single;           /* work in float; numbers come and go as doubles, logarithms stay doubles */
  double device_memory; /* CUDA only: bytes to use at most, 0 for as many as are free */
} sdtw_recurrence;

/* On the threads of this process. */
size_t sdtw_recurrence_plan(const sdtw_recurrence *job);
sdtw_status sdtw_recurrence_run(const sdtw_recurrence *job, void *scratch,
                                const sdtw_monitor *monitor);

/* The same in each precision; see recurrence.c. */
size_t sdtw_recurrence_plan_f64(const sdtw_recurrence *job);
size_t sdtw_recurrence_plan_f32(const sdtw_recurrence *job);
sdtw_status sdtw_recurrence_run_f64(const sdtw_recurrence *job, void *scratch,
                                    const sdtw_monitor *monitor);
sdtw_status sdtw_recurrence_run_f32(const sdtw_recurrence *job, void *scratch,
                                    const sdtw_monitor *monitor);

/* Whoever runs recurrences: the threads of this process, or a CUDA device. As sdtw_engine; what
 * lies between the numbers of `out` may be overwritten. */
typedef struct {
  size_t (*plan)(const sdtw_recurrence *job);
  sdtw_status (*run)(const sdtw_recurrence *job, void *scratch, const sdtw_monitor *monitor,
                     sdtw_error *error);
} sdtw_recurrence_engine;

extern const sdtw_recurrence_engine sdtw_cpu_recurrence_engine;

/* The gradient of a function of the results, given its derivatives `grad` by each of them: those by
 * a, b and x0 are added to the sinks (zeroed by the caller; stride 0 sums what was repeated). The
 * job has been run: its sink holds the results. With `logs` all derivatives are by logarithms;
 * where a result is 0 there is none, and its share is 0. */
typedef struct {
  const sdtw_recurrence *job;
  const sdtw_recurrence_engine *engine; /* that runs what of it is a recurrence */
  sdtw_stream grad;
  sdtw_sink grad_a, grad_b, grad_x0;
} sdtw_recurrence_back;

size_t sdtw_recurrence_back_plan(const sdtw_recurrence_back *back);
sdtw_status sdtw_recurrence_back_run(const sdtw_recurrence_back *back, void *scratch,
                                     const sdtw_monitor *monitor, sdtw_error *error);

#endif
