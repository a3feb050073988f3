/* The way back: the expected alignment E of each tile, and what is summed from it.
 *
 * E of a cell is what its three successors owe it: the E of each times the share that this cell
 * had in its sum. Lanes, rows and steps run in reverse. What a lane's first row owes goes to the
 * lane before by shuffle, the debt upward one step later and the diagonal one two steps later;
 * what the first row of a stripe owes to the stripe above goes through two arrays of m columns, in
 * place: column c is read by the last lane 31 steps before the first lane writes it, with a
 * barrier between.
 *
 * A tile is swept forward once more from its saved front, keeping the shares of its cells; on the
 * way back E takes the place of the shares upward. Gradients then add E (x - y), never
 * x sum E - sum E y: rows in the registers of their lane, columns in numbers that travel from lane
 * to lane as the debts do. Both add their terms in descending order of the other index, whatever
 * the tiles and teams: no atomics, and the same bits every time.
 */
#ifndef SOFTDTW_CUDA_BACKWARD_CUH
#define SOFTDTW_CUDA_BACKWARD_CUH

#include "forward.cuh"

/* Dimensions whose sums a lane holds in registers at once. */
enum { TOGETHER = 4 };

/* Where the results of a pair go; what is not wanted is NULL. */
template <class T>
struct results {
  T *grad_x, *grad_y; /* n x d and m x d, column-major, as are the others */
  T *mass, *square;   /* n row sums of E; n x d sums of E (x - y)^2 */
  T *alignment;       /* n x m */
};

/* ---- shares -------------------------------------------------------------------------------- */

/* Sweeps a tile forward again from its saved front, keeping the shares of its cells. */
template <class T, bool Hard>
SDTW_PHASE void share_out_tile(const pair_view<T> &pair, const stripe &here, int lane, steps tile,
                               const T *saved, const scaled<T> *above, T *kept) {
  const pair_view<T> p = pair;
  const stripe s = here;
  const window_rows rows = rows_in_window(p, s, lane);
  front<T> f;
  load_front(f, lane, saved);
  sweep_tile<T, Hard, true>(p, s, lane, rows, f, tile, above, (scaled<T> *)NULL, kept);
}

/* ---- E ------------------------------------------------------------------------------------- */

/* What the lane's cells of the column behind owe: along their rows, diagonally, and what its first
 * row owes to the lane above (older: the diagonal debt of one column further back). */
template <class T>
struct debts {
  T left[ROWS], diagonal[ROWS], up, older;
};

/* E = 1 in the corner, given as if a column behind it owed it. */
template <class T>
SDTW_DEVICE void start_debts(debts<T> &q, const pair_view<T> &p, const stripe &s, int lane) {
  SDTW_UNROLL
  for (int r = 0; r < ROWS; r++) {
    q.left[r] = s.row + lane * ROWS + r == p.n - 1 ? T(1) : T(0);
    q.diagonal[r] = T(0);
  }
  q.up = q.older = T(0);
}

/* One column of a lane's rows. place holds its shares; E replaces those upward. */
template <class T>
SDTW_DEVICE void repay_column(debts<T> &q, T up, T diagonal, T *place) {
  SDTW_UNROLL
  for (int r = ROWS - 1; r >= 0; r--) {
    T e = (up + q.left[r]) + diagonal;
    up = product(e, place[r * LANES]);
    q.left[r] = product(e, place[(ROWS + r) * LANES]);
    diagonal = q.diagonal[r];
    q.diagonal[r] = product(e, place[(2 * ROWS + r) * LANES]);
    place[r * LANES] = e;
  }
  q.up = up;
  q.older = diagonal;
}

/* The first lane hands the debts of its column to the stripe above. */
template <class T>
SDTW_DEVICE void hand_up(const debts<T> &q, const stripe &s, int column, T *up, T *diagonal) {
  up[column] = q.up;
  diagonal[column - 1] = q.diagonal[0];
  if (column == s.last) diagonal[column] = T(0);
}

template <class T>
SDTW_DEVICE void repay_group(const stripe &s, int lane, debts<T> &q, int t, T *up, T *diagonal,
                             T *kept) {
  T from_below[STEPS], diagonal_below[STEPS];
  SDTW_UNROLL
  for (int i = 0; i < STEPS; i++) {
    const int column = t + i - lane;
    const bool reads = lane == LANES - 1 && column >= s.first && column <= s.last;
    from_below[i] = reads ? up[column] : T(0);
    diagonal_below[i] = reads ? diagonal[column] : T(0);
  }
  __syncwarp();
  SDTW_UNROLL
  for (int i = STEPS - 1; i >= 0; i--) {
    const int column = t + i - lane;
    T owed_up = __shfl_down_sync(all_lanes, q.up, 1);
    T owed_diagonal = __shfl_down_sync(all_lanes, q.older, 1);
    if (lane == LANES - 1) {
      owed_up = from_below[i];
      owed_diagonal = diagonal_below[i];
    }
    if (column < s.first || column > s.last) continue;
    repay_column(q, owed_up, owed_diagonal, kept + (size_t)i * SHARES * ROWS * LANES);
    if (lane == 0) hand_up(q, s, column, up, diagonal);
  }
}

template <class T>
SDTW_PHASE void repay_tile(const stripe &here, int lane, debts<T> &state, steps tile, T *up,
                           T *diagonal, T *kept) {
  const stripe s = here;
  debts<T> q = state;
  for (int t = tile.to - STEPS; t >= tile.from; t -= STEPS)
    repay_group(s, lane, q, t, up, diagonal, shares_at(kept, t - tile.from, lane));
  state = q;
}

/* ---- sums over a tile ---------------------------------------------------------------------- */

/* A tile whose E is known: T *at holds E where the shares upward were. */
template <class T>
struct known_tile {
  steps span;
  T *at;
};

template <class T>
SDTW_DEVICE bool has_column(const stripe &s, int column) {
  return column >= s.first && column <= s.last;
}

template <class T>
SDTW_PHASE void put_alignment(const pair_view<T> &p, const stripe &s, int lane, known_tile<T> tile,
                              T *alignment) {
  for (int t = tile.span.from; t < tile.span.to; t++) {
    const int column = t - lane;
    if (!has_column<T>(s, column)) continue;
    const T *e = shares_at(tile.at, t - tile.span.from, lane);
    for (int r = 0; r < ROWS; r++) {
      int row = s.row + lane * ROWS + r;
      if (row < p.n) alignment[(size_t)(column - 1) * (size_t)p.n + (size_t)row] = e[r * LANES];
    }
  }
}

/* d |x - y| / d x = (x - y) / |x - y|, and 0 where the points coincide */
template <class T>
SDTW_PHASE void divide_by_distance(const pair_view<T> &p, const stripe &s, int lane,
                                   known_tile<T> tile) {
  for (int t = tile.span.from; t < tile.span.to; t += STEPS) {
    T length[STEPS][ROWS];
    distances(p, s, lane, t, length);
    SDTW_UNROLL
    for (int i = 0; i < STEPS; i++) {
      if (!has_column<T>(s, t + i - lane)) continue;
      T *e = shares_at(tile.at, t + i - tile.span.from, lane);
      SDTW_UNROLL
      for (int r = 0; r < ROWS; r++)
        e[r * LANES] = length[i][r] > T(0) ? e[r * LANES] / length[i][r] : T(0);
    }
  }
}

template <bool Absolute, class T>
SDTW_DEVICE T gradient_sum(T e, T difference, T sum) {
  if (!Absolute) return fused(e, difference, sum);
  return sum + (difference > T(0) ? e : difference < T(0) ? -e : T(0));
}

/* Rows of K dimensions in registers: points and sums; rows beyond the pair are not put back. Whole:
 * the pair has all K of them, else those of the last block. */
template <class T, int K, bool Whole>
struct row_block {
  T x[ROWS][K], sum[ROWS][K];
};

template <bool Whole, class T>
SDTW_DEVICE bool has_dimension(const pair_view<T> &p, int k) {
  return Whole || k < p.d;
}

template <class T, int K, bool Whole>
SDTW_DEVICE void load_rows(row_block<T, K, Whole> &b, const pair_view<T> &p, const stripe &s,
                           int lane, int k, const T *sums) {
  SDTW_UNROLL
  for (int r = 0; r < ROWS; r++) {
    const bool own = s.row + lane * ROWS + r < p.n; /* else the row is another lane's */
    SDTW_UNROLL
    for (int q = 0; q < K; q++) {
      const size_t at = (size_t)(k + q) * (size_t)p.n + (size_t)row_of(p, s, lane, r);
      const bool there = has_dimension<Whole>(p, k + q);
      b.x[r][q] = there ? constant_at(p.x + at) : T(0);
      b.sum[r][q] = own && there && sums ? sums[at] : T(0);
    }
  }
}

template <class T, int K, bool Whole>
SDTW_DEVICE void store_rows(const row_block<T, K, Whole> &b, const pair_view<T> &p, const stripe &s,
                            int lane, int k, T *sums) {
  SDTW_UNROLL
  for (int r = 0; r < ROWS; r++) {
    const int row = s.row + lane * ROWS + r;
    SDTW_UNROLL
    for (int q = 0; q < K; q++) {
      if (row < p.n && has_dimension<Whole>(p, k + q))
        sums[(size_t)(k + q) * (size_t)p.n + (size_t)row] = b.sum[r][q];
    }
  }
}

/* Dimension k of a column of y, or of its gradient. */
template <class T, class Number>
SDTW_DEVICE Number *point_of(const pair_view<T> &p, Number *y, int k, int column) {
  return y + (size_t)k * (size_t)p.m + (size_t)(column - 1);
}

/* One step of the gradient sums of K dimensions. moving: those of the lane's column so far. */
template <bool Absolute, class T, int K, bool Whole>
SDTW_DEVICE void gradient_step(row_block<T, K, Whole> &b, T (&moving)[K], const pair_view<T> &p,
                               int k, int column, const T *place) {
  const T *y_at = point_of(p, p.y, k, column);
  T y[K], e[ROWS];
  SDTW_UNROLL
  for (int q = 0; q < K; q++)
    y[q] = has_dimension<Whole>(p, k + q) ? constant_at(y_at + (size_t)q * (size_t)p.m) : T(0);
  SDTW_UNROLL
  for (int r = 0; r < ROWS; r++) e[r] = place[r * LANES];
  SDTW_UNROLL
  for (int q = 0; q < K; q++) {
    SDTW_UNROLL
    for (int r = ROWS - 1; r >= 0; r--) {
      T difference = b.x[r][q] - y[q];
      b.sum[r][q] = gradient_sum<Absolute>(e[r], difference, b.sum[r][q]);
      moving[q] = gradient_sum<Absolute>(e[r], -difference, moving[q]);
    }
  }
}

/* The sums of a column enter a stripe at its last lane and leave it at its first. */
template <bool Whole, class T, int K>
SDTW_DEVICE void pass_on(T (&moving)[K], const pair_view<T> &p, const stripe &s, int lane, int k,
                         int column, const T *grad_y) {
  const bool enters = lane == LANES - 1;
  SDTW_UNROLL
  for (int q = 0; q < K; q++) {
    moving[q] = __shfl_down_sync(all_lanes, moving[q], 1);
    if (enters) moving[q] = T(0);
  }
  if (!enters || !has_column<T>(s, column)) return;
  const T *at = point_of(p, grad_y, k, column);
  SDTW_UNROLL
  for (int q = 0; q < K; q++) {
    if (has_dimension<Whole>(p, k + q)) moving[q] = at[(size_t)q * (size_t)p.m];
  }
}

template <bool Whole, class T, int K>
SDTW_DEVICE void drop_off(const T (&moving)[K], const pair_view<T> &p, int k, int column,
                          T *grad_y) {
  T *at = point_of(p, grad_y, k, column);
  SDTW_UNROLL
  for (int q = 0; q < K; q++) {
    if (has_dimension<Whole>(p, k + q)) at[(size_t)q * (size_t)p.m] = moving[q];
  }
}

/* Adds the tile to the gradients of K dimensions from k on. */
template <bool Absolute, int K, bool Whole, class T>
SDTW_PHASE void gradient_block(const pair_view<T> &pair, const stripe &here, int lane,
                               known_tile<T> tile, int k, const results<T> &where, T *travel) {
  const pair_view<T> p = pair;
  const stripe s = here;
  const results<T> out = where;
  row_block<T, K, Whole> b;
  T moving[K];
  load_rows(b, p, s, lane, k, out.grad_x);
  SDTW_UNROLL
  for (int q = 0; q < K; q++)
    moving[q] = has_dimension<Whole>(p, k + q) ? travel[(k + q) * LANES + lane] : T(0);
  for (int t = tile.span.to - 1; t >= tile.span.from; t--) {
    const int column = t - lane;
    if (out.grad_y) {
      if (t % STEPS == STEPS - 1) __syncwarp();
      pass_on<Whole>(moving, p, s, lane, k, column, out.grad_y);
    }
    if (!has_column<T>(s, column)) continue;
    gradient_step<Absolute>(b, moving, p, k, column, shares_at(tile.at, t - tile.span.from, lane));
    if (out.grad_y && lane == 0) drop_off<Whole>(moving, p, k, column, out.grad_y);
  }
  if (out.grad_x) store_rows(b, p, s, lane, k, out.grad_x);
  SDTW_UNROLL
  for (int q = 0; q < K; q++) {
    if (has_dimension<Whole>(p, k + q)) travel[(k + q) * LANES + lane] = moving[q];
  }
}

template <bool Absolute, class T>
SDTW_DEVICE void gradient_tile(const pair_view<T> &p, const stripe &s, int lane, known_tile<T> tile,
                               const results<T> &out, T *travel) {
  int k = 0;
  if (p.d == 1) {
    gradient_block<Absolute, 1, true>(p, s, lane, tile, 0, out, travel);
    return;
  }
  for (; k + TOGETHER <= p.d; k += TOGETHER)
    gradient_block<Absolute, TOGETHER, true>(p, s, lane, tile, k, out, travel);
  if (k < p.d) gradient_block<Absolute, TOGETHER, false>(p, s, lane, tile, k, out, travel);
}

template <class T>
SDTW_PHASE void mass_tile(const pair_view<T> &p, const stripe &s, int lane, known_tile<T> tile,
                          T *mass) {
  for (int r = 0; r < ROWS; r++) {
    const int row = s.row + lane * ROWS + r;
    if (row >= p.n) continue;
    T sum = mass[row];
    for (int t = tile.span.to - 1; t >= tile.span.from; t--) {
      if (has_column<T>(s, t - lane))
        sum += shares_at(tile.at, t - tile.span.from, lane)[r * LANES];
    }
    mass[row] = sum;
  }
}

template <class T>
SDTW_PHASE void square_tile(const pair_view<T> &p, const stripe &s, int lane, known_tile<T> tile,
                            T *square) {
  for (int k = 0; k < p.d; k++) {
    row_block<T, 1, true> b;
    load_rows(b, p, s, lane, k, square);
    for (int t = tile.span.to - 1; t >= tile.span.from; t--) {
      const int column = t - lane;
      if (!has_column<T>(s, column)) continue;
      const T *e = shares_at(tile.at, t - tile.span.from, lane);
      const T y = p.y[(size_t)k * (size_t)p.m + (size_t)(column - 1)];
      SDTW_UNROLL
      for (int r = 0; r < ROWS; r++) {
        T difference = b.x[r][0] - y;
        b.sum[r][0] = fused(e[r * LANES], difference * difference, b.sum[r][0]);
      }
    }
    store_rows(b, p, s, lane, k, square);
  }
}

template <class T>
SDTW_DEVICE void use_tile(const pair_view<T> &p, const stripe &s, int lane, known_tile<T> tile,
                          const results<T> &out, T *travel) {
  if (out.alignment) put_alignment(p, s, lane, tile, out.alignment);
  if (out.mass) {
    mass_tile(p, s, lane, tile, out.mass);
    square_tile(p, s, lane, tile, out.square);
  }
  if (!out.grad_x && !out.grad_y) return;
  if (p.ground == SDTW_EUCLIDEAN) divide_by_distance(p, s, lane, tile);
  if (p.ground == SDTW_MANHATTAN) {
    gradient_tile<true>(p, s, lane, tile, out, travel);
  } else {
    gradient_tile<false>(p, s, lane, tile, out, travel);
  }
}

/* ---- pairs --------------------------------------------------------------------------------- */

template <class T>
SDTW_DEVICE void clear_debts(const team &me, const pair_view<T> &p, const workspace<T> &work) {
  T *at = work.at + work.plan.debts;
  for (int c = me.warp * LANES + me.lane; c < 2 * (p.m + 2); c += me.warps * LANES) at[c] = T(0);
}

/* Goes back over a pair that sweep_pair() has saved. */
template <class T, bool Hard>
SDTW_DEVICE void repay_pair(const team &me, const pair_view<T> &p, const workspace<T> &work,
                            int tile, const results<T> &out) {
  const int count = stripes_of(p.n);
  T *up = work.at + work.plan.debts, *diagonal = up + p.m + 2;
  T *kept = work.at + work.plan.shares + (size_t)me.warp * (size_t)tile * SHARES * ROWS * LANES;
  T *travel = work.at + work.plan.travel + (size_t)me.warp * (size_t)p.d * LANES;
  clear_debts(me, p, work);
  barrier(me);
  for (int pass = (count - 1) / me.warps * me.warps; pass >= 0; pass -= me.warps) {
    const int bottom = (pass + me.warps < count ? pass + me.warps : count) - 1;
    const bool working = pass + me.warp <= bottom;
    const int mine = working ? pass + me.warp : bottom;
    const stripe s = stripe_number(p, mine);
    const int highest = last_tile(stripe_number(p, bottom), tile);
    const int rounds = highest - first_tile(stripe_number(p, pass), tile) + LAG * (bottom - pass);
    const scaled<T> *above = border_below(work, mine + work.plan.border_count - 1);
    debts<T> q;
    start_debts(q, p, s, me.lane);
    for (int k = 0; k < p.d; k++) travel[k * LANES + me.lane] = T(0);
    for (int round = 0; round <= rounds; round++) {
      const int number = highest - round + LAG * (bottom - mine);
      if (working && number >= first_tile(s, tile) && number <= last_tile(s, tile)) {
        const steps span = steps_of(s, number, tile);
        const T *saved = front_at(work, mine, number - first_tile(s, tile));
        share_out_tile<T, Hard>(p, s, me.lane, span, saved, above, kept);
        repay_tile(s, me.lane, q, span, up, diagonal, kept);
        known_tile<T> known = {span, kept};
        use_tile(p, s, me.lane, known, out, travel);
      }
      barrier(me);
    }
  }
}

#endif
