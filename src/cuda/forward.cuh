/* The forward sweep of a stripe, tile by tile. */
#ifndef SOFTDTW_CUDA_FORWARD_CUH
#define SOFTDTW_CUDA_FORWARD_CUH

#include "pair.cuh"

/* ---- costs --------------------------------------------------------------------------------- */

SDTW_DEVICE int clamp(int v, int low, int high) { return v < low ? low : v > high ? high : v; }

/* The last row of the pair stands in for those beyond it, the first and last column likewise. */
template <class T>
SDTW_DEVICE int row_of(const pair_view<T> &p, const stripe &s, int lane, int r) {
  int row = s.row + lane * ROWS + r;
  return row < p.n ? row : p.n - 1;
}

template <class T>
SDTW_DEVICE int column_index(const pair_view<T> &p, int column) {
  return clamp(column, 1, p.m) - 1;
}

/* Differences, never the expanded square: that loses digits under an offset. Inside: rows and
 * columns follow one another, so that one address serves all of them. */
template <bool Absolute, bool Inside, class T>
SDTW_DEVICE void add_dimensions(const pair_view<T> &p, const int (&row)[ROWS],
                                const int (&column)[STEPS], T (&sum)[STEPS][ROWS]) {
  const T *x = Inside ? p.x + row[0] : p.x, *y = Inside ? p.y + column[0] : p.y;
  SDTW_UNROLL_BY(Inside ? 2 : 1)
  for (int k = 0; k < p.d; k++, x += p.n, y += p.m) {
    T x_k[ROWS];
    SDTW_UNROLL
    for (int r = 0; r < ROWS; r++) x_k[r] = constant_at(x + (Inside ? r : row[r]));
    SDTW_UNROLL
    for (int i = 0; i < STEPS; i++) {
      T y_k = constant_at(y + (Inside ? i : column[i]));
      SDTW_UNROLL
      for (int r = 0; r < ROWS; r++) {
        T difference = x_k[r] - y_k;
        sum[i][r] = Absolute ? sum[i][r] + fabs(difference)
                             : fused(difference, difference, sum[i][r]);
      }
    }
  }
}

/* Unscaled costs of a lane's rows at the STEPS steps from t on. */
template <class T>
SDTW_DEVICE void distances(const pair_view<T> &p, const stripe &s, int lane, int t,
                           T (&cost)[STEPS][ROWS]) {
  int row[ROWS], column[STEPS];
  SDTW_UNROLL
  for (int r = 0; r < ROWS; r++) row[r] = row_of(p, s, lane, r);
  SDTW_UNROLL
  for (int i = 0; i < STEPS; i++) column[i] = column_index(p, t + i - lane);
  SDTW_UNROLL
  for (int i = 0; i < STEPS; i++) {
    SDTW_UNROLL
    for (int r = 0; r < ROWS; r++)
      cost[i][r] = p.given ? p.given[(size_t)column[i] * (size_t)p.n + (size_t)row[r]] : T(0);
  }
  if (p.given) return;
  /* of all lanes */
  const bool inside = s.row + STRIPE <= p.n && t >= LANES && t + STEPS - 1 <= p.m;
  if (p.ground == SDTW_MANHATTAN) {
    add_dimensions<true, false>(p, row, column, cost);
  } else if (inside) {
    add_dimensions<false, true>(p, row, column, cost);
  } else {
    add_dimensions<false, false>(p, row, column, cost);
  }
  if (p.ground != SDTW_EUCLIDEAN) return;
  SDTW_UNROLL
  for (int i = 0; i < STEPS; i++) {
    SDTW_UNROLL
    for (int r = 0; r < ROWS; r++) cost[i][r] = sqrt(cost[i][r]);
  }
}

/* ---- where a lane stands ------------------------------------------------------------------- */

/* The cells of the last column of the lane's rows, and the one above them a column earlier. */
template <class T>
struct front {
  scaled<T> left[ROWS], diagonal;
};

/* Columns of the window in each of the lane's rows. */
struct window_rows {
  int lo[ROWS], hi[ROWS];
};

template <class T>
SDTW_DEVICE window_rows rows_in_window(const pair_view<T> &p, const stripe &s, int lane) {
  window_rows w;
  SDTW_UNROLL
  for (int r = 0; r < ROWS; r++) {
    sdtw_range range = {1, p.m};
    if (p.window >= 0) range = columns_of(p, s.row + lane * ROWS + r);
    w.lo[r] = (int)range.lo;
    w.hi[r] = (int)range.hi;
  }
  return w;
}

/* The cell of the row above the stripe. */
template <class T, bool Hard>
SDTW_DEVICE scaled<T> cell_above(const stripe &s, const scaled<T> *above, int column) {
  if (column < s.above_first || column > s.above_last) return unreachable<T, Hard>();
  return above[column - s.above_first];
}

template <class T, bool Hard>
SDTW_DEVICE void start_front(front<T> &f, const stripe &s, int lane, const scaled<T> *above) {
  SDTW_UNROLL
  for (int r = 0; r < ROWS; r++) f.left[r] = unreachable<T, Hard>();
  f.diagonal = unreachable<T, Hard>();
  if (lane > 0) return;
  if (s.row > 0) f.diagonal = cell_above<T, Hard>(s, above, s.first - 1);
  if (s.row == 0 && s.first == 1) f.diagonal = origin<T, Hard>();
}

template <class T>
SDTW_DEVICE void save_front(const front<T> &f, int lane, T *at) {
  scaled<T> *place = (scaled<T> *)at + lane;
  SDTW_UNROLL
  for (int r = 0; r < ROWS; r++) place[r * LANES] = f.left[r];
  place[ROWS * LANES] = f.diagonal;
}

template <class T>
SDTW_DEVICE void load_front(front<T> &f, int lane, const T *at) {
  const scaled<T> *place = (const scaled<T> *)at + lane;
  SDTW_UNROLL
  for (int r = 0; r < ROWS; r++) f.left[r] = place[r * LANES];
  f.diagonal = place[ROWS * LANES];
}

/* ---- steps --------------------------------------------------------------------------------- */

/* Where the shares of a step lie: share q of row r at [(q * ROWS + r) * LANES]. */
template <class T>
SDTW_DEVICE T *shares_at(T *tile, int step_in_tile, int lane) {
  return tile + (size_t)step_in_tile * SHARES * ROWS * LANES + lane;
}

template <class T>
SDTW_DEVICE void keep_shares(T *place, int r, const shares<T> &s) {
  place[r * LANES] = s.up;
  place[(ROWS + r) * LANES] = s.left;
  place[(2 * ROWS + r) * LANES] = s.diagonal;
}

/* One column of a lane's rows. Masked: some of them may lie outside the window. */
template <class T, bool Hard, bool Keep, bool Masked>
SDTW_DEVICE void sweep_column(front<T> &f, scaled<T> up, const T (&cost)[ROWS], int column,
                              const window_rows &w, T *kept) {
  scaled<T> above = up, diagonal = f.diagonal;
  SDTW_UNROLL
  for (int r = 0; r < ROWS; r++) {
    shares<T> part;
    scaled<T> left = f.left[r], z = cell<Hard, Keep>(above, left, diagonal, cost[r], &part);
    if (Masked && (column < w.lo[r] || column > w.hi[r])) {
      z = unreachable<T, Hard>();
      part.up = part.left = part.diagonal = T(0);
    }
    if (Keep) keep_shares(kept, r, part);
    diagonal = left;
    above = z;
    f.left[r] = z;
  }
  f.diagonal = up;
}

template <class T>
SDTW_DEVICE scaled<T> from_lane_above(scaled<T> z) {
  scaled<T> up = {__shfl_up_sync(all_lanes, z.mantissa, 1),
                  __shfl_up_sync(all_lanes, z.exponent, 1)};
  return up;
}

/* STEPS steps from t on. above, below: borders of the stripe (below may be NULL). */
template <class T, bool Hard, bool Keep, bool Masked>
SDTW_DEVICE void sweep_group(const pair_view<T> &p, const stripe &s, int lane, const window_rows &w,
                             front<T> &f, int t, const scaled<T> *above, scaled<T> *below,
                             T *kept) {
  T cost[STEPS][ROWS];
  scaled<T> entering[STEPS];
  SDTW_UNROLL
  for (int i = 0; i < STEPS; i++) {
    entering[i] = unreachable<T, Hard>();
    if (lane == 0 && s.row > 0) entering[i] = cell_above<T, Hard>(s, above, t + i);
  }
  distances(p, s, lane, t, cost);
  SDTW_UNROLL
  for (int i = 0; i < STEPS; i++) {
    const int column = t + i - lane;
    scaled<T> up = from_lane_above(f.left[ROWS - 1]);
    if (lane == 0) up = entering[i];
    if (column < s.first || column > s.last) continue;
    SDTW_UNROLL
    for (int r = 0; r < ROWS; r++) cost[i][r] *= p.scale;
    sweep_column<T, Hard, Keep, Masked>(f, up, cost[i], column, w,
                                        Keep ? kept + i * SHARES * ROWS * LANES : kept);
    if (below && lane == LANES - 1 && column >= s.below_first && column <= s.below_last)
      below[column - s.below_first] = f.left[ROWS - 1];
  }
}

/* The steps of one tile; kept is where the shares of the first of them go. */
template <class T, bool Hard, bool Keep>
SDTW_DEVICE void sweep_tile(const pair_view<T> &p, const stripe &s, int lane,
                            const window_rows &rows, front<T> &f, steps tile,
                            const scaled<T> *above, scaled<T> *below, T *kept) {
  for (int t = tile.from; t < tile.to; t += STEPS) {
    T *place = Keep ? shares_at(kept, t - tile.from, lane) : kept;
    bool inside = t - (LANES - 1) >= s.common_first && t + STEPS - 1 <= s.common_last;
    if (p.window < 0 || inside) {
      sweep_group<T, Hard, Keep, false>(p, s, lane, rows, f, t, above, below, place);
    } else {
      sweep_group<T, Hard, Keep, true>(p, s, lane, rows, f, t, above, below, place);
    }
  }
}

/* ---- pairs --------------------------------------------------------------------------------- */

/* The value from the corner, which the lane of the last row still holds; in double, because an
 * exponent can be exact beyond the digits of a float. */
template <class T, bool Hard>
SDTW_DEVICE void put_value(const pair_view<T> &p, const stripe &s, int lane, front<T> &f,
                           double unit, double *value) {
  const int last = p.n - 1 - s.row;
  if (lane != last / ROWS) return;
  /* The rows move up until the last is the first: an index would put them all into memory. */
  for (int r = 0; r < last % ROWS; r++) {
    SDTW_UNROLL
    for (int q = 0; q + 1 < ROWS; q++) f.left[q] = f.left[q + 1];
  }
  const scaled<T> corner = f.left[0];
  const double m = (double)corner.mantissa;
  *value = unit * (Hard ? m : log2(m) + (double)corner.exponent);
}

/* Sweeps a pair forward and puts its value; with Save also keeps what the way back needs. */
template <class T, bool Hard, bool Save>
SDTW_DEVICE void sweep_pair(const team &me, const pair_view<T> &p, const workspace<T> &work,
                            int tile, double unit, double *value) {
  const int count = stripes_of(p.n);
  for (int pass = 0; pass < count; pass += me.warps) {
    const int mine = pass + me.warp,
              bottom = (pass + me.warps < count ? pass + me.warps : count) - 1;
    const bool working = mine < count;
    const stripe s = stripe_number(p, working ? mine : bottom), lowest = stripe_number(p, bottom);
    const int begin = first_tile(stripe_number(p, pass), tile);
    const int end = last_tile(lowest, tile) + LAG * (bottom - pass);
    const scaled<T> *above = border_below(work, mine + work.plan.border_count - 1);
    scaled<T> *below = mine + 1 < count ? border_below(work, mine) : NULL;
    const window_rows w = rows_in_window(p, s, me.lane);
    front<T> f;
    for (int round = begin; round <= end; round++) {
      const int number = round - LAG * me.warp;
      if (working && number >= first_tile(s, tile) && number <= last_tile(s, tile)) {
        if (number == first_tile(s, tile)) start_front<T, Hard>(f, s, me.lane, above);
        if (Save) save_front(f, me.lane, front_at(work, mine, number - first_tile(s, tile)));
        sweep_tile<T, Hard, false>(p, s, me.lane, w, f, steps_of(s, number, tile), above, below,
                                   (T *)NULL);
      }
      barrier(me);
    }
    if (mine == count - 1) put_value<T, Hard>(p, s, me.lane, f, unit, value);
  }
}

#endif
