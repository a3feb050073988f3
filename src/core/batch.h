/* Jobs over sets of series, in each precision; see batch.c. */
#ifndef SOFTDTW_CORE_BATCH_H
#define SOFTDTW_CORE_BATCH_H

#include "softdtw.h"

size_t sdtw_batch_plan_f64(const sdtw_job *job);
size_t sdtw_batch_plan_f32(const sdtw_job *job);
sdtw_status sdtw_batch_run_f64(const sdtw_job *job, void *scratch, const sdtw_monitor *monitor);
sdtw_status sdtw_batch_run_f32(const sdtw_job *job, void *scratch, const sdtw_monitor *monitor);

#endif
