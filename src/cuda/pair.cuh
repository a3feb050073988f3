/* How a pair of series is divided among lanes and warps, and where it keeps what.
 *
 * Rows are taken in stripes of 32 * ROWS: lane k of a warp holds the ROWS rows from k * ROWS on of
 * its stripe in registers, and at step t works on column t - k. So the cell above a lane's first
 * row is the last cell of the lane before, one step ago: it comes by shuffle. Steps are grouped
 * into tiles of a fixed grid.
 *
 * A team works on one pair: a single warp when there are many pairs, a block of warps when there
 * are few. Warp w of a team takes the stripes w, w + warps, ... Two tiles must lie between a warp
 * and the one above it, because its last lane is up to 31 steps late; a barrier after each tile
 * keeps it so. Nothing depends on the size of a team but the time it takes.
 *
 * The memory of a team, in numbers of the type T, for n rows, m columns and w of them in a row of
 * the window:
 *   borders    2 w for each stripe going forward and back, or for warps + 1 of them
 *   fronts     10 a lane for each tile of each stripe: where the sweep stood when it began it
 *   shares     12 a lane and step of one tile, for each warp
 *   debts      2 (m + 2): what the cells of the stripe below owe to those above them
 *   travel     d a lane, for each warp: the gradient of y on its way from lane to lane
 * In single precision with tiles of 64 steps that is 0.22 bytes a cell, with the longest 0.07.
 */
#ifndef SOFTDTW_CUDA_PAIR_CUH
#define SOFTDTW_CUDA_PAIR_CUH

#include "number.cuh"

extern "C" {
#include "core/softdtw.h"
}
#define SDTW_WINDOW_INLINE SDTW_BOTH
#include "core/window.h"

enum { LANES = 32, ROWS = 4, STRIPE = LANES * ROWS };
/* Steps whose costs a lane computes at once: each row and column read serves as many cells. */
enum { STEPS = 4 };
enum { SHARES = 3, FRONT = 2 * (ROWS + 1) };
static const unsigned all_lanes = 0xffffffffu;
enum { LAG = 2 }; /* tiles between the warps of a team */

/* ---- a pair -------------------------------------------------------------------------------- */

/* Dimension k of time step t is at [k * n + t] (for y: k * m + t): lanes read neighbours. */
template <class T>
struct pair_view {
  const T *x, *y;
  const T *given; /* costs in place of series, n x m, column-major */
  int n, m, d;
  int ground; /* an sdtw_ground_cost */
  T scale;
  long long window;
};

struct stripe {
  int row, lanes;                /* first row, counted from 0, and lanes that have rows */
  int first, last;               /* columns, counted from 1, that some row has */
  int common_first, common_last; /* those that all rows have */
  int above_first, above_last;   /* those of the row above the first */
  int below_first, below_last;   /* those of the last row */
};

SDTW_BOTH int stripes_of(int n) { return (n + STRIPE - 1) / STRIPE; }

/* Rows past the end repeat the last one: they are computed like others and nobody looks. */
template <class T>
SDTW_DEVICE sdtw_range columns_of(const pair_view<T> &p, int row) {
  return sdtw_window_range((row < p.n ? row : p.n - 1) + 1, p.n, p.m, (ptrdiff_t)p.window);
}

template <class T>
SDTW_DEVICE stripe stripe_number(const pair_view<T> &p, int number) {
  int row = number * STRIPE, rows = p.n - row < STRIPE ? p.n - row : STRIPE;
  sdtw_range top = columns_of(p, row), bottom = columns_of(p, row + rows - 1);
  sdtw_range above = {1, 0};
  if (row > 0) above = columns_of(p, row - 1);
  stripe s = {row,
              (rows + ROWS - 1) / ROWS,
              (int)top.lo,
              (int)bottom.hi,
              (int)bottom.lo,
              (int)top.hi,
              (int)above.lo,
              (int)above.hi,
              (int)bottom.lo,
              (int)bottom.hi};
  return s;
}

SDTW_BOTH int first_tile(const stripe &s, int tile) { return s.first / tile; }
SDTW_BOTH int last_tile(const stripe &s, int tile) { return (s.last + s.lanes - 1) / tile; }

/* The steps of a tile that some lane of the stripe has, in whole groups. */
struct steps {
  int from, to;
};

SDTW_BOTH steps steps_of(const stripe &s, int number, int tile) {
  int begin = s.first / STEPS * STEPS, end = (s.last + s.lanes + STEPS - 1) / STEPS * STEPS;
  steps t = {number * tile, (number + 1) * tile};
  if (t.from < begin) t.from = begin;
  if (t.to > end) t.to = end;
  return t;
}

/* ---- memory -------------------------------------------------------------------------------- */

struct layout {
  size_t border_size, borders, fronts_size, fronts, shares, debts, travel, total;
  int border_count;
};

/* Columns of a row at most, and of all the rows of a stripe. */
SDTW_BOTH long long row_width(int n, int m, long long window) {
  long long rows = n - 1, columns = m - 1, longer = rows > columns ? rows : columns;
  if (window < 0 || window >= longer || rows == 0) return m;
  long long width = 2 * window * longer / rows + 2;
  return width < m ? width : m;
}

SDTW_BOTH long long stripe_width(int n, int m, long long window) {
  long long row = row_width(n, m, window), rows = n > 1 ? n - 1 : 1;
  long long width = row + (long long)STRIPE * (m - 1) / rows + 2;
  return width < m ? width : m;
}

SDTW_BOTH layout lay_out(int n, int m, int d, long long window, bool back, int warps, int tile) {
  layout l = {};
  size_t stripes = (size_t)stripes_of(n), tiles;
  l.border_count = back ? (int)stripes : warps + 1;
  l.border_size = 2 * (size_t)row_width(n, m, window);
  l.total = l.border_size * (size_t)l.border_count;
  if (!back) return l;
  tiles = (size_t)(stripe_width(n, m, window) + LANES - 1) / (size_t)tile + 2;
  l.fronts = l.total;
  l.fronts_size = tiles * FRONT * LANES;
  l.shares = l.fronts + stripes * l.fronts_size;
  l.debts = l.shares + (size_t)warps * (size_t)tile * SHARES * ROWS * LANES;
  l.travel = l.debts + 2 * ((size_t)m + 2);
  l.total = l.travel + (size_t)warps * (size_t)d * LANES;
  l.total += l.total % 2; /* the borders of the next team are aligned to pairs */
  return l;
}

/* ---- teams --------------------------------------------------------------------------------- */

struct team {
  int warps, warp, lane;
  size_t number; /* of the team in the grid */
};

SDTW_DEVICE team my_team(int warps) {
  int in_block = (int)blockDim.x / LANES, warp = (int)threadIdx.x / LANES;
  team t = {warps, warps > 1 ? warp : 0, (int)threadIdx.x % LANES, blockIdx.x};
  if (warps == 1) t.number = (size_t)blockIdx.x * (size_t)in_block + (size_t)warp;
  return t;
}

SDTW_DEVICE void barrier(const team &t) {
  if (t.warps > 1) {
    __syncthreads();
  } else {
    __syncwarp();
  }
}

/* Teams draw their pairs one by one, so that long and short ones balance. */
SDTW_DEVICE unsigned draw(const team &t, unsigned *ticket) {
  if (t.warps == 1) {
    unsigned number = t.lane == 0 ? atomicAdd(ticket, 1u) : 0u;
    return __shfl_sync(all_lanes, number, 0);
  }
  SDTW_SHARED(unsigned, drawn, 1);
  __syncthreads();
  if (threadIdx.x == 0) *drawn = atomicAdd(ticket, 1u);
  __syncthreads();
  return *drawn;
}

/* Places of a pair in the memory of its team. */
template <class T>
struct workspace {
  T *at;
  layout plan;
};

template <class T>
SDTW_DEVICE scaled<T> *border_below(const workspace<T> &w, int stripe) {
  return (scaled<T> *)(w.at + (size_t)(stripe % w.plan.border_count) * w.plan.border_size);
}

template <class T>
SDTW_DEVICE T *front_at(const workspace<T> &w, int stripe, int tile) {
  return w.at + w.plan.fronts + (size_t)stripe * w.plan.fronts_size + (size_t)tile * FRONT * LANES;
}

#endif
