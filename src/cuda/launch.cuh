/* What the host hands to a launch, and the launchers. */
#ifndef SOFTDTW_CUDA_LAUNCH_CUH
#define SOFTDTW_CUDA_LAUNCH_CUH

#include "backward.cuh"
#include "device.h"

/* Teams of one warp come two to a block: larger blocks would leave registers of a multiprocessor to
 * nobody (4 of 200 registers a thread fit twice, 2 fit five times), and of smaller ones it may hold
 * too few. */
enum { WARPS_A_BLOCK = 2, MOST_WARPS_A_TEAM = 8 };

struct series_place {
  size_t start, length; /* start: in the values of the set */
};

template <class T>
struct launch {
  const sdtw_cuda_pair *pairs;
  unsigned count;
  unsigned *ticket; /* 0 before the launch */

  const T *x, *y;
  const series_place *x_place, *y_place;
  const T *given; /* one pair's costs in place of series */
  int given_n, given_m;
  int d, ground, hard;
  int wants; /* of SDTW_CUDA_GRAD_X and so on */
  T scale;
  double unit; /* of values: -gamma ln 2; for hard DTW that of the costs */
  long long window;

  unsigned teams;  /* that are at work at once: each draws pairs until none is left */
  int warps, tile; /* of a team; steps of a tile */
  T *scratch;      /* scratch_size numbers for each team */
  size_t scratch_size;

  double *value;        /* of each pair */
  T *out;               /* the wanted results, zeroed, */
  const size_t *out_at; /* those of pair p from out[out_at[p]] on */
};

template <class T>
SDTW_DEVICE pair_view<T> view_of(const launch<T> &job, unsigned p) {
  pair_view<T> v = {NULL,  NULL,       job.given, job.given_n, job.given_m,
                    job.d, job.ground, job.scale, job.window};
  if (job.given) return v;
  const sdtw_cuda_pair numbers = job.pairs[p];
  const series_place x = job.x_place[numbers.x], y = job.y_place[numbers.y];
  v.x = job.x + x.start;
  v.y = job.y + y.start;
  v.n = (int)x.length;
  v.m = (int)y.length;
  return v;
}

struct grid_size {
  unsigned blocks, threads;
};

SDTW_BOTH grid_size grid_of(unsigned teams, int warps) {
  const unsigned in_block = warps > 1 ? 1u : (unsigned)WARPS_A_BLOCK;
  grid_size g = {(teams + in_block - 1) / in_block, in_block * (unsigned)(LANES * warps)};
  return g;
}

/* Values only (value.cu), and values with whatever else job.wants (gradient.cu). */
template <class T>
cudaError_t launch_value(const launch<T> &job);
template <class T>
cudaError_t launch_gradient(const launch<T> &job);

/* Teams of so many warps that a multiprocessor holds at once. */
template <class T>
int resident_value_teams(bool hard, int warps);
template <class T>
int resident_gradient_teams(bool hard, int warps);

/* arrange.cu: from doubles, a time step's dimensions together, to T, a dimension's steps together,
 * as (point - frame[k]) frame[d] (NULL: as they are). The series follow one another in both. */
template <class T>
cudaError_t launch_arrange(const double *from, const double *frame, T *to,
                           const series_place *place, size_t series, int d);

/* sum.cu: sums[b][i] = the sum of weights[p] out[p][i] over the pairs of block b, in order. */
template <class T>
cudaError_t launch_sum(const T *out, const double *weights, size_t count, size_t block,
                       size_t record, double *sums);

#endif
