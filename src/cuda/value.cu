/* Values of many pairs.
 *
 * Shape: a team (pair.cuh) keeps 32 x ROWS rows of a pair in registers and streams the columns
 * through; stripes follow one another with one border row in global memory.
 *
 * Per cell: about 28 instructions (single) or 38 (double, half of them in the double pipe), one
 * special function in single; with shuffles, loads and moves nvcc 11.8 makes 36 of them in single,
 * 40 under a window. The cost takes 3 more for each dimension (2 of them arithmetic; 4 at the ends
 * of a stripe). Registers (nvcc 11.8, sm_90): 128 in single, 176 in double, nothing spilled: 16 and
 * 10 warps a multiprocessor. Memory: a row and a column of points come from the first-level cache,
 * (STEPS + ROWS) / (STEPS ROWS) = 1/2 number a dimension and cell; a border of 2 numbers a column
 * and stripe, 1/64 number a cell written and as much read. Nothing else.
 *
 * Limit: instruction issue, for d up to a few; from about d = 8 on the 3 d of the cost. Latency is
 * hidden by other teams of the multiprocessor, so a batch wants thousands of pairs; with fewer,
 * teams of several warps share one pair and the first and last tiles run thin.
 */
#include "launch.cuh"

template <class T, bool Hard>
__global__ void __launch_bounds__(LANES *MOST_WARPS_A_TEAM) value_kernel(launch<T> job) {
  const team me = my_team(job.warps);
  if (me.number >= job.teams) return; /* the last block may have warps to spare */
  workspace<T> work;
  work.at = job.scratch + me.number * job.scratch_size;
  for (unsigned p = draw(me, job.ticket); p < job.count; p = draw(me, job.ticket)) {
    const pair_view<T> v = view_of(job, p);
    work.plan = lay_out(v.n, v.m, v.d, v.window, false, me.warps, job.tile);
    sweep_pair<T, Hard, false>(me, v, work, job.tile, job.unit, job.value + p);
  }
}

/* ---- launchers ----------------------------------------------------------------------------- */

template <class T, bool Hard>
static cudaError_t launch_one(const launch<T> &job) {
  void (*kernel)(launch<T>) = value_kernel<T, Hard>;
  grid_size g = grid_of(job.teams, job.warps);
  SDTW_LAUNCH(kernel, g.blocks, g.threads, job);
  return cudaGetLastError();
}

template <class T>
cudaError_t launch_value(const launch<T> &job) {
  return job.hard ? launch_one<T, true>(job) : launch_one<T, false>(job);
}

template <class T>
int resident_value_teams(bool hard, int warps) {
  int blocks = 0;
  void (*kernel)(launch<T>) = hard ? value_kernel<T, true> : value_kernel<T, false>;
  grid_size g = grid_of(1, warps);
  if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, (int)g.threads, 0) !=
      cudaSuccess)
    blocks = 1;
  return (blocks > 0 ? blocks : 1) * (warps > 1 ? 1 : (int)WARPS_A_BLOCK);
}

template cudaError_t launch_value(const launch<float> &);
template cudaError_t launch_value(const launch<double> &);
template int resident_value_teams<float>(bool, int);
template int resident_value_teams<double>(bool, int);
