/* What the glue sees of whatever runs a job: the core's threads, or a CUDA device.
 *
 * An engine keeps nothing of a job: plan() says how many bytes of host memory run() needs. When
 * run() answers SDTW_FAILED, everything it took has been given back and `error` says why.
 */
#ifndef SOFTDTW_CORE_ENGINE_H
#define SOFTDTW_CORE_ENGINE_H

#include "softdtw.h"

/* The kind of a failure: what a caller could do about it differs. */
typedef enum {
  SDTW_NO_DEVICE,     /* no engine of this kind here */
  SDTW_FORKED,        /* the process is a fork of one that has used the device */
  SDTW_DEVICE_MEMORY, /* the device has not enough memory */
  SDTW_DEVICE_ERROR,  /* anything else that CUDA reports */
} sdtw_failure;

typedef struct {
  sdtw_failure kind;
  char message[384];
} sdtw_error;

typedef struct {
  const char *name;
  size_t (*plan)(const sdtw_job *job);
  sdtw_status (*run)(const sdtw_job *job, void *scratch, const sdtw_monitor *monitor,
                     sdtw_error *error);
} sdtw_engine;

extern const sdtw_engine sdtw_cpu_engine;

/* Cells of the job's matrices in all, and numbers in its series: work, and what to carry. */
double sdtw_job_cells(const sdtw_job *job);
double sdtw_job_numbers(const sdtw_job *job);

#endif
