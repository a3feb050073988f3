/* Which kernels to run: asked of the processor, newest last, and which precision. This file is
 * compiled without any instruction-set attribute, so that it runs everywhere. */
#include "batch.h"
#include "recurrence.h"
#include "softdtw.h"

const char *sdtw_isa_name(sdtw_isa isa) {
  static const char *const names[] = {"generic", "avx2", "avx512"};
  return names[isa];
}

int sdtw_isa_lanes(sdtw_isa isa) {
  static const int lanes[] = {4, 8, 16};
  return lanes[isa];
}

int sdtw_isa_usable(sdtw_isa found[3]) {
  int n = 0;
  found[n++] = SDTW_GENERIC;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) found[n++] = SDTW_AVX2;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("fma"))
    found[n++] = SDTW_AVX512;
#endif
  return n;
}

size_t sdtw_plan(const sdtw_job *job) {
  return job->options.single ? sdtw_batch_plan_f32(job) : sdtw_batch_plan_f64(job);
}

sdtw_status sdtw_run(const sdtw_job *job, void *scratch, const sdtw_monitor *monitor) {
  return job->options.single ? sdtw_batch_run_f32(job, scratch, monitor)
                             : sdtw_batch_run_f64(job, scratch, monitor);
}

size_t sdtw_recurrence_plan(const sdtw_recurrence *job) {
  return job->single ? sdtw_recurrence_plan_f32(job) : sdtw_recurrence_plan_f64(job);
}

sdtw_status sdtw_recurrence_run(const sdtw_recurrence *job, void *scratch,
                                const sdtw_monitor *monitor) {
  return job->single ? sdtw_recurrence_run_f32(job, scratch, monitor)
                     : sdtw_recurrence_run_f64(job, scratch, monitor);
}
