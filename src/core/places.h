/* Which pairs a job has and where their results go: what every engine does alike. */
#ifndef SOFTDTW_CORE_PLACES_H
#define SOFTDTW_CORE_PLACES_H

#include <string.h>

#include "softdtw.h"

/* ---- order --------------------------------------------------------------------------------- */

static inline size_t sdtw_length_of(const sdtw_set *set, size_t i) {
  return set ? (size_t)set->length[set->count == 1 ? 0 : i] : 0;
}

/* Numbers 0..count-1 by decreasing length of x (plus that of its partner in y, if y is given);
 * tally has room for the two longest lengths and two more. */
static inline void sdtw_order_by_length(size_t *order, size_t count, const sdtw_set *x,
                                        const sdtw_set *y, size_t *tally) {
  size_t longest = (size_t)x->longest + (y ? (size_t)y->longest : 0);
  memset(tally, 0, (longest + 2) * sizeof(size_t));
  for (size_t i = 0; i < count; i++)
    tally[longest - sdtw_length_of(x, i) - sdtw_length_of(y, i) + 1]++;
  for (size_t k = 0; k <= longest; k++) tally[k + 1] += tally[k];
  for (size_t i = 0; i < count; i++)
    order[tally[longest - sdtw_length_of(x, i) - sdtw_length_of(y, i)]++] = i;
}

/* ---- places -------------------------------------------------------------------------------- */

static inline double sdtw_own(const double *values, size_t i) { return values ? values[i] : 0.0; }

/* Written so that a series equal to its partner gives exactly 0. */
static inline double sdtw_without_own(const sdtw_job *job, double value, size_t x, size_t y) {
  return job->own_x ? value - 0.5 * (sdtw_own(job->own_x, x) + sdtw_own(job->own_y, y)) : value;
}

static inline void sdtw_put_matrix(const sdtw_job *job, size_t x, size_t y, double value) {
  size_t n = job->x->count;
  job->value[x + n * y] = value;
  if (job->x == job->y) job->value[y + n * x] = value;
}

static inline void sdtw_put_dist(const sdtw_job *job, size_t x, size_t y, double value) {
  size_t n = job->x->count, i = x < y ? x : y, j = x < y ? y : x;
  job->value[n * i - i * (i + 1) / 2 + (j - i - 1)] = value;
}

/* ---- REDUCE -------------------------------------------------------------------------------- */

/* The number of pairs summed as one block: many while a pair is little work, one when a pair is
 * worth a task of its own. Part of the result's definition, so it depends on the job only. */
static inline size_t sdtw_reduce_block(const sdtw_job *job) {
  double cells = (double)job->x->longest * (double)job->y->longest;
  return cells < 65536 ? 64 : cells < 1048576 ? 16 : 1;
}

/* Numbers summed for a job: gradient, row sums of E, squares; those that are wanted. */
static inline size_t sdtw_reduce_size(const sdtw_job *job) {
  size_t n = (size_t)job->x->length[0], d = job->x->d;
  return (job->sum_x ? n * d : 0) + (job->mass ? n + n * d : 0);
}

/* ---- KNN ----------------------------------------------------------------------------------- */

/* A list of the k nearest so far, in order: by distance, ties by number. */
typedef struct {
  double *distance;
  size_t *index;
  size_t k, count;
} sdtw_nearest;

static inline void sdtw_consider(sdtw_nearest *list, double distance, size_t index) {
  size_t at = list->count;
  while (at > 0 && (list->distance[at - 1] > distance ||
                    (list->distance[at - 1] == distance && list->index[at - 1] > index)))
    at--;
  if (at == list->k) return;
  if (list->count < list->k) list->count++;
  for (size_t i = list->count - 1; i > at; i--) {
    list->distance[i] = list->distance[i - 1];
    list->index[i] = list->index[i - 1];
  }
  list->distance[at] = distance;
  list->index[at] = index;
}

#endif
