/* Values of pairs with their gradients, moments or expected alignments.
 *
 * Shape: forward as in value.cu, keeping the border below each stripe and the front before each
 * tile; then back, tile by tile: forward once more with shares, back for E, then the sums.
 *
 * Per cell: the forward cell twice (once with a division and 3 products more), 5 instructions for
 * E, and for each dimension 9 (3 of them arithmetic: a difference and its two sums). Memory: 3
 * shares written, 3 read and E written and read once for every TOGETHER dimensions: 32 bytes a cell
 * in single at d = 1, out of a tile that stays in the second-level cache (98 KB a warp at 64
 * steps); what is kept between forward and back is 0.22 bytes a cell (pair.cuh).
 *
 * Registers (nvcc 11.8, sm_90): 189 in single, 254 in double, nothing spilled: 10 and 8 warps a
 * multiprocessor. The phases of the way back are functions of their own for that.
 *
 * Limit: instruction issue at small d in single, from d = 4 on the sums of the gradient and the dot
 * products, both ways; in double, latency, because 8 warps hide little of it and a division takes
 * some 20 instructions.
 */
#include "launch.cuh"

template <class T>
SDTW_DEVICE T *take(T *&at, bool wanted, size_t count) {
  T *place = at;
  if (!wanted) return NULL;
  at += count;
  return place;
}

/* The order that launch.cuh promises. */
template <class T>
SDTW_DEVICE results<T> results_of(const launch<T> &job, const pair_view<T> &v, unsigned p) {
  const size_t n = (size_t)v.n, m = (size_t)v.m, d = (size_t)v.d;
  T *at = job.out + job.out_at[p];
  results<T> out;
  out.grad_x = take(at, job.wants & SDTW_CUDA_GRAD_X, n * d);
  out.grad_y = take(at, job.wants & SDTW_CUDA_GRAD_Y, m * d);
  out.mass = take(at, job.wants & SDTW_CUDA_MOMENTS, n);
  out.square = take(at, job.wants & SDTW_CUDA_MOMENTS, n * d);
  out.alignment = take(at, job.wants & SDTW_CUDA_ALIGNMENT, n * m);
  return out;
}

/* At least 1 block a multiprocessor: left to itself, nvcc would rather spill than use more than 128
 * registers in single. */
template <class T, bool Hard>
__global__ void __launch_bounds__(LANES *MOST_WARPS_A_TEAM, 1) gradient_kernel(launch<T> job) {
  const team me = my_team(job.warps);
  if (me.number >= job.teams) return; /* the last block may have warps to spare */
  workspace<T> work;
  work.at = job.scratch + me.number * job.scratch_size;
  for (unsigned p = draw(me, job.ticket); p < job.count; p = draw(me, job.ticket)) {
    const pair_view<T> v = view_of(job, p);
    work.plan = lay_out(v.n, v.m, v.d, v.window, true, me.warps, job.tile);
    sweep_pair<T, Hard, true>(me, v, work, job.tile, job.unit, job.value + p);
    repay_pair<T, Hard>(me, v, work, job.tile, results_of(job, v, p));
  }
}

/* ---- launchers ----------------------------------------------------------------------------- */

template <class T, bool Hard>
static cudaError_t launch_one(const launch<T> &job) {
  void (*kernel)(launch<T>) = gradient_kernel<T, Hard>;
  grid_size g = grid_of(job.teams, job.warps);
  SDTW_LAUNCH(kernel, g.blocks, g.threads, job);
  return cudaGetLastError();
}

template <class T>
cudaError_t launch_gradient(const launch<T> &job) {
  return job.hard ? launch_one<T, true>(job) : launch_one<T, false>(job);
}

template <class T>
int resident_gradient_teams(bool hard, int warps) {
  int blocks = 0;
  void (*kernel)(launch<T>) = hard ? gradient_kernel<T, true> : gradient_kernel<T, false>;
  grid_size g = grid_of(1, warps);
  if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, (int)g.threads, 0) !=
      cudaSuccess)
    blocks = 1;
  return (blocks > 0 ? blocks : 1) * (warps > 1 ? 1 : (int)WARPS_A_BLOCK);
}

template cudaError_t launch_gradient(const launch<float> &);
template cudaError_t launch_gradient(const launch<double> &);
template int resident_gradient_teams<float>(bool, int);
template int resident_gradient_teams<double>(bool, int);
