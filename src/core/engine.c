/* See engine.h. */
#include "engine.h"

#include "recurrence.h"

static sdtw_status run_on_cpu(const sdtw_job *job, void *scratch, const sdtw_monitor *monitor,
                              sdtw_error *error) {
  (void)error; /* the core cannot fail */
  return sdtw_run(job, scratch, monitor);
}

const sdtw_engine sdtw_cpu_engine = {"cpu", sdtw_plan, run_on_cpu};

static sdtw_status recur_on_cpu(const sdtw_recurrence *job, void *scratch,
                                const sdtw_monitor *monitor, sdtw_error *error) {
  (void)error; /* as above */
  return sdtw_recurrence_run(job, scratch, monitor);
}

const sdtw_recurrence_engine sdtw_cpu_recurrence_engine = {sdtw_recurrence_plan, recur_on_cpu};

static double total_length(const sdtw_set *set) {
  double total = 0;
  for (size_t i = 0; i < set->count; i++) total += set->length[i];
  return total;
}

static double paired_cells(const sdtw_set *x, const sdtw_set *y) {
  size_t pairs = x->count > y->count ? x->count : y->count;
  double cells = 0;
  for (size_t p = 0; p < pairs; p++)
    cells += (double)x->length[x->count == 1 ? 0 : p] * y->length[y->count == 1 ? 0 : p];
  return cells;
}

double sdtw_job_cells(const sdtw_job *job) {
  if (job->given_cost) return (double)job->given_n * (double)job->given_m;
  if (job->kind == SDTW_PAIRS || job->kind == SDTW_REDUCE || job->kind == SDTW_ALIGNMENT)
    return paired_cells(job->x, job->y);
  double all = total_length(job->x) * total_length(job->y);
  return job->x == job->y && job->kind != SDTW_KNN ? all / 2 : all;
}

double sdtw_job_numbers(const sdtw_job *job) {
  if (job->given_cost) return (double)job->given_n * (double)job->given_m;
  double lengths = total_length(job->x) + (job->x == job->y ? 0 : total_length(job->y));
  return lengths * (double)job->x->d;
}
