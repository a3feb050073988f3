/* Soft-DTW's innermost loops, written once and compiled for each instruction set.
 *
 * In base 2, with K = 2^-cost (costs arrive multiplied by 1 / (gamma ln 2)), the recurrence is
 *
 *     Z_ij = K_ij (Z_{i-1,j} + Z_{i,j-1} + Z_{i-1,j-1}),   Z_00 = 1.
 *
 * Z leaves the range of a real at once, so each Z is a mantissa and an exponent held in a real of
 * its own; unreachable is mantissa 0, exponent SDTW_UNREACHABLE. A cell then takes one polynomial
 * for 2^f with f in [-1/2, 1/2] (where a table can be looked up: in [-1/32, 1/32]), three additions
 * aligned to the largest exponent and no logarithm.
 *
 * The mantissa is brought back to [1, 2) only now and then: a cell multiplies it by 0.7 to 6, so
 * it may drift for a hundred cells and more without harm, and the exponent of a cell need not wait
 * for its mantissa. Powers of two change no bit of the sums, up to exponents of 2^53 (single:
 * 2^24), which take up less than the whole drift; so that even then no result depends on the lane
 * or line its cells happen to lie in, the cells brought back are those whose row + column in their
 * own pair is 0 or 1 modulo a period. They are two neighbours, as a diagonal step advances the sum
 * by two.
 *
 * The additions are (up + left) + diagonal: swapping the two series gives the same bits. Shares
 * are each their own term over the sum (none is one minus the others, which could be negative).
 *
 * gamma = 0 is the same sweep with (min, +), the value in the mantissa's place and unreachable
 * infinite; ties go to the diagonal, then up, then left, and the shares are one 1 and two 0s.
 *
 * A lane vector is a pair of vectors (a, b): the two rows of a pack, or the two halves of a strip.
 * One alone would wait for its left neighbour's result most of the time; the two fill each other's
 * gaps.
 *
 * Parameters: the vocabulary of a vec-*.h, and SDTW_TABLE, the name of the table to define.
 */
#include <math.h>
#include <string.h>

#include "kernels.h"
#include "softdtw.h"

enum { LANES = 2 * V_WIDTH };

typedef struct {
  V a, b;
} pair;

typedef struct {
  M a, b;
} pair_mask;

V_INLINE pair pair_set(sdtw_real c) { return (pair){v_set(c), v_set(c)}; }
V_INLINE pair pair_load(const sdtw_real *p) { return (pair){v_load(p), v_load(p + V_WIDTH)}; }
V_INLINE void pair_store(sdtw_real *p, pair v) {
  v_store(p, v.a);
  v_store(p + V_WIDTH, v.b);
}
V_INLINE pair pair_add(pair x, pair y) { return (pair){x.a + y.a, x.b + y.b}; }
V_INLINE pair pair_sub(pair x, pair y) { return (pair){x.a - y.a, x.b - y.b}; }
V_INLINE pair pair_mul(pair x, pair y) { return (pair){x.a * y.a, x.b * y.b}; }
V_INLINE pair pair_fma(pair x, pair y, pair z) {
  return (pair){v_fma(x.a, y.a, z.a), v_fma(x.b, y.b, z.b)};
}
V_INLINE pair pair_abs(pair x) { return (pair){v_abs(x.a), v_abs(x.b)}; }
V_INLINE pair pair_sqrt(pair x) { return (pair){v_sqrt(x.a), v_sqrt(x.b)}; }
V_INLINE pair pair_select(pair_mask m, pair yes, pair no) {
  return (pair){v_select(m.a, yes.a, no.a), v_select(m.b, yes.b, no.b)};
}
V_INLINE pair pair_kept_mul(pair x, pair y) { return (pair){v_keep(x.a * y.a), v_keep(x.b * y.b)}; }

/* From one row of a line to the next, and between a line and the columns beside it. In a strip a
 * row is a lane and a column one number; in a pack a row is a vector and so is a column. */
enum { STRIP_LAG = LANES - 1, PACK_LAG = 1 };

V_INLINE ptrdiff_t stride_of(int strip) { return strip ? 1 : V_WIDTH; }
V_INLINE ptrdiff_t lag_of(int strip) { return strip ? STRIP_LAG : PACK_LAG; }

/* What each row's lanes hold moves to the next row; the first row takes column `column`. */
V_INLINE pair rows_down(int strip, pair v, const sdtw_real *columns, ptrdiff_t column) {
  if (!strip) return (pair){v_load(columns + column * V_WIDTH), v.a};
  return (pair){v_enter(v.a, v_set(columns[column])), v_enter(v.b, v.a)};
}
/* The other way: each row takes what the next one held; the last row takes column `column`. */
V_INLINE pair rows_up(int strip, pair v, const sdtw_real *columns, ptrdiff_t column) {
  if (!strip) return (pair){v.b, v_load(columns + column * V_WIDTH)};
  return (pair){v_leave(v.a, v.b), v_leave(v.b, v_set(columns[column]))};
}
V_INLINE void store_last_row(int strip, sdtw_real *columns, ptrdiff_t column, pair v) {
  if (strip)
    v_store_last(columns + column, v.b);
  else
    v_store(columns + column * V_WIDTH, v.b);
}
V_INLINE void store_first_row(int strip, sdtw_real *columns, ptrdiff_t column, pair v) {
  if (strip)
    v_store_first(columns + column, v.a);
  else
    v_store(columns + column * V_WIDTH, v.a);
}
/* Points of y: the two vectors lie side by side in a strip, a column apart in a pack. */
V_INLINE pair load_points(const sdtw_real *y, ptrdiff_t second) {
  return (pair){v_load(y), v_load(y + second)};
}

/* 2^f for f in [-1/2, 1/2]: 1 + f q(f) with q near-minimax, exactly 1 at 0. In Estrin's order,
 * which is shorter than Horner's. Relative error before rounding: 3e-9 (single), 2e-17 (double). */
#ifdef SDTW_SINGLE
V_INLINE V exp2_fraction(V f) {
  V f2 = f * f;
  V q01 = v_fma(v_set(0.24022652782887738f), f, v_set(0.6931472149680279f));
  V q23 = v_fma(v_set(0.009617692972993062f), f, v_set(0.05550310551013797f));
  V q45 = v_fma(v_set(0.0001559467816132662f), f, v_set(0.0013406643902351759f));
  V q = v_fma(v_fma(q45, f2, q23), f2, q01);
  return v_fma(f, q, v_set(1));
}
#elif !defined(V_TABLE)
V_INLINE V exp2_fraction(V f) {
  V f2 = f * f, f4 = f2 * f2;
  V q01 = v_fma(v_set(0.24022650695910097), f, v_set(0.6931471805599457));
  V q23 = v_fma(v_set(0.009618129107607003), f, v_set(0.05550410866479039));
  V q45 = v_fma(v_set(0.0001540353044157213), f, v_set(0.0013333558153439966));
  V q67 = v_fma(v_set(1.3215442675329823e-06), f, v_set(1.5252727385193868e-05));
  V q89 = v_fma(v_set(7.072570412814423e-09), f, v_set(1.0180647659234139e-07));
  V q0 = v_fma(q23, f2, q01), q4 = v_fma(q67, f2, q45);
  V q8 = v_fma(v_set(4.078071929588337e-10), f2, q89);
  V q = v_fma(v_fma(q8, f4, q4), f4, q0);
  return v_fma(f, q, v_set(1));
}
#endif

typedef struct {
  V mantissa, exponent;
} scaled;

typedef struct {
  V up, left, diagonal;
} shares;

/* 2^-cost = factor * 2^(exponent - top) with a whole exponent - top. */
typedef struct {
  V factor, exponent;
} power;

#ifdef V_TABLE
/* Costs are rounded to sixteenths by adding 1.5 * 2^48: the last four bits of the sum then say
 * which entry of the table is meant, 2^0 or 2^(1 - i/16). Exponents stand so high above 2^52 that
 * taking the sixteenths from one, rounded down, leaves it whole: five operations fewer than below.
 * In return no path may cost 2^46, which keeps sums and exponents within their binades. */
#define ORIGIN 0x1.8p52
#define MOST_COST 0x1p46
V_INLINE power power_of(V top, V cost) {
  const V magic = v_set(0x1.8p48);
  V shown = cost + magic, sixteenths = shown - magic;
  V f = sixteenths - cost, entry = v_look_up(shown);
  /* 2^f = 1 + f q(f), q near-minimax; relative error before rounding 7e-18. Horner's order has the
   * fewest operations, and nothing waits for them. */
  V q = v_fma(v_set(0.0001540381618519688), f, v_set(0.001333381828905438));
  q = v_fma(q, f, v_set(0.009618129105690591));
  q = v_fma(q, f, v_set(0.05550410865216627));
  q = v_fma(q, f, v_set(0.2402265069591011));
  q = v_fma(q, f, v_set(0.6931471805599468));
  return (power){v_fma(entry * f, q, entry), v_sub_down(top, sixteenths)};
}
#else
#define ORIGIN 0
#define MOST_COST HUGE_VAL
V_INLINE power power_of(V top, V cost) {
  V whole = v_round(cost);
  return (power){exp2_fraction(whole - cost), top - whole};
}
#endif

V_INLINE scaled soft_cell(int trim, M due, scaled up, scaled left, scaled diagonal, V cost,
                          int keep, shares *s) {
  /* left, the cell just computed, comes last: all else is ready while it is on its way */
  V top = v_max(v_max(up.exponent, diagonal.exponent), left.exponent);
  V from_up = v_scale(up.mantissa, up.exponent - top);
  V from_left = v_scale(left.mantissa, left.exponent - top);
  V from_diagonal = v_scale(diagonal.mantissa, diagonal.exponent - top);
  V sum = (from_up + from_left) + from_diagonal;
  if (keep) {
    V inverse = v_set(1) / sum;
    *s = (shares){from_up * inverse, from_left * inverse, from_diagonal * inverse};
  }
  power k = power_of(top, cost);
  scaled z = {sum * k.factor, k.exponent};
  if (trim) {
    V mantissa, drift;
    v_split(z.mantissa, &mantissa, &drift);
    z.mantissa = v_select(due, mantissa, z.mantissa);
    z.exponent = v_select(due, z.exponent + drift, z.exponent);
  }
  return z;
}

V_INLINE scaled hard_cell(scaled up, scaled left, scaled diagonal, V cost, int keep, shares *s) {
  if (keep) {
    V least = v_min(up.mantissa, left.mantissa);
    V one = v_set(1), none = v_set(0);
    M is_diagonal = v_less_equal(diagonal.mantissa, least);
    M is_up = v_less_equal(up.mantissa, left.mantissa);
    s->diagonal = v_select(is_diagonal, one, none);
    s->up = v_select(is_diagonal, none, v_select(is_up, one, none));
    s->left = v_select(is_diagonal, none, v_select(is_up, none, one));
  }
  V before = v_min(up.mantissa, diagonal.mantissa);
  return (scaled){v_min(before, left.mantissa) + cost, up.exponent};
}

V_INLINE scaled one_cell(int hard, int trim, M due, scaled up, scaled left, scaled diagonal, V cost,
                         int keep, shares *s) {
  return hard ? hard_cell(up, left, diagonal, cost, keep, s)
              : soft_cell(trim, due, up, left, diagonal, cost, keep, s);
}

typedef struct {
  pair mantissa, exponent;
} scaled_pair;

V_INLINE scaled_pair cell(int hard, int trim, int keep, pair_mask due, scaled_pair up,
                          scaled_pair left, scaled_pair diagonal, pair cost, sdtw_real *kept) {
  shares sa, sb;
  scaled a = one_cell(hard, trim, due.a, (scaled){up.mantissa.a, up.exponent.a},
                      (scaled){left.mantissa.a, left.exponent.a},
                      (scaled){diagonal.mantissa.a, diagonal.exponent.a}, cost.a, keep, &sa);
  scaled b = one_cell(hard, trim, due.b, (scaled){up.mantissa.b, up.exponent.b},
                      (scaled){left.mantissa.b, left.exponent.b},
                      (scaled){diagonal.mantissa.b, diagonal.exponent.b}, cost.b, keep, &sb);
  if (keep) {
    pair_store(kept, (pair){sa.up, sb.up});
    pair_store(kept + LANES, (pair){sa.left, sb.left});
    pair_store(kept + 2 * LANES, (pair){sa.diagonal, sb.diagonal});
  }
  return (scaled_pair){{a.mantissa, b.mantissa}, {a.exponent, b.exponent}};
}

V_INLINE scaled_pair unreachable(int hard) {
  return (scaled_pair){pair_set(hard ? INFINITY : 0), pair_set(SDTW_UNREACHABLE)};
}

/* Cells outside their lane's steps become unreachable and take no share of anything. */
V_INLINE scaled_pair mask_cell(int hard, int keep, scaled_pair z, pair_mask inside,
                               sdtw_real *kept) {
  scaled_pair none = unreachable(hard);
  if (keep) {
    for (int k = 0; k < SDTW_SHARES; k++) {
      sdtw_real *at = kept + k * LANES;
      pair_store(at, pair_select(inside, pair_load(at), pair_set(0)));
    }
  }
  return (scaled_pair){pair_select(inside, z.mantissa, none.mantissa),
                       pair_select(inside, z.exponent, none.exponent)};
}

V_INLINE scaled_pair cell_above(int hard, int strip, sdtw_border border, ptrdiff_t t,
                                scaled_pair before) {
  scaled_pair up = before;
  up.mantissa = rows_down(strip, before.mantissa, border.mantissa, t);
  if (!hard) up.exponent = rows_down(strip, before.exponent, border.exponent, t);
  return up;
}

V_INLINE void leave_below(int hard, int strip, sdtw_border border, ptrdiff_t t, scaled_pair z) {
  store_last_row(strip, border.mantissa, t - lag_of(strip), z.mantissa);
  if (!hard) store_last_row(strip, border.exponent, t - lag_of(strip), z.exponent);
}

V_INLINE void put_column(int strip, sdtw_real *columns, ptrdiff_t column, V v) {
  if (strip)
    v_store_first(columns + column, v);
  else
    v_store(columns + column * V_WIDTH, v);
}

/* Where in a line a run begins and how it goes on. */
typedef struct {
  const sdtw_real *cost;
  sdtw_real *kept;
  scaled_pair left, diagonal;
} forward_state;

/* The diagonal neighbour of a line's first row is the column before its first step, which then is
 * out of reach too. A pair that skips the first row of all finds Z_00 as if that row had left it
 * there. */
V_INLINE void start_line(int hard, int strip, sdtw_border border, const sdtw_span *span,
                         forward_state *state) {
  scaled_pair none = unreachable(hard);
  ptrdiff_t before = span->first - 1;
  state->left = none;
  state->diagonal.mantissa = rows_down(strip, none.mantissa, border.mantissa, before);
  state->diagonal.exponent = rows_down(strip, none.exponent, border.exponent, before);
  put_column(strip, border.mantissa, before, none.mantissa.a);
  put_column(strip, border.exponent, before, none.exponent.a);
  if (span->row > 0) return;
  M skips = v_less_equal(v_set(1), v_load(span->skip));
  state->left.mantissa.a = v_select(skips, v_set(hard ? 0 : 1), none.mantissa.a);
  state->left.exponent.a = v_select(skips, v_set(ORIGIN), none.exponent.a);
}

V_INLINE void resume_line(const sdtw_real *saved, forward_state *state) {
  state->left = (scaled_pair){pair_load(saved), pair_load(saved + LANES)};
  state->diagonal = (scaled_pair){pair_load(saved + 2 * LANES), pair_load(saved + 3 * LANES)};
}

/* As far apart as the range of a real allows with room to spare. */
#if defined(SDTW_SINGLE)
enum { TRIM_PERIOD = 16 };
#elif defined(V_TABLE)
enum { TRIM_PERIOD = 256 };
#else
enum { TRIM_PERIOD = 128 };
#endif

/* The lanes whose mantissas are brought back on an anti-diagonal of the line. */
V_INLINE pair_mask due_lanes(ptrdiff_t diagonal, pair skip) {
  V phase = v_set((sdtw_real)(diagonal % TRIM_PERIOD)), one = v_set(1);
  return (pair_mask){v_inside(phase, skip.a, skip.a + one), v_inside(phase, skip.b, skip.b + one)};
}

V_INLINE void forward_steps(int hard, int strip, int keep, int masked, int trim, sdtw_border border,
                            forward_state *state, const sdtw_span *span, ptrdiff_t from,
                            ptrdiff_t to) {
  scaled_pair left = state->left, diagonal = state->diagonal;
  const sdtw_real *cost = state->cost;
  sdtw_real *kept = state->kept;
  pair lo = pair_load(span->lo), hi = pair_load(span->hi), skip = pair_load(span->skip);
  for (ptrdiff_t t = from; t < to; t++) {
    scaled_pair up = cell_above(hard, strip, border, t, left);
    left = cell(hard, trim, keep, due_lanes(span->row + t, skip), up, left, diagonal,
                pair_load(cost), kept);
    if (masked) {
      V step = v_set((sdtw_real)(t - span->origin));
      pair_mask inside = {v_inside(step, lo.a, hi.a), v_inside(step, lo.b, hi.b)};
      left = mask_cell(hard, keep, left, inside, kept);
    }
    leave_below(hard, strip, border, t, left);
    diagonal = up;
    cost += LANES;
    if (keep) kept += SDTW_SHARES * LANES;
  }
  *state = (forward_state){cost, kept, left, diagonal};
}

static inline ptrdiff_t earlier(ptrdiff_t a, ptrdiff_t b) { return a < b ? a : b; }

V_INLINE void forward_run(int hard, int strip, int keep, int masked, sdtw_border border,
                          forward_state *state, const sdtw_span *span, ptrdiff_t from,
                          ptrdiff_t to) {
  while (from < to) {
    ptrdiff_t phase = (from + span->row) % TRIM_PERIOD, end;
    if (!hard && phase < span->due) {
      end = earlier(to, from + span->due - phase);
      forward_steps(hard, strip, keep, masked, 1, border, state, span, from, end);
    } else {
      end = hard ? to : earlier(to, from + TRIM_PERIOD - phase);
      forward_steps(hard, strip, keep, masked, 0, border, state, span, from, end);
    }
    from = end;
  }
}

static inline ptrdiff_t between(ptrdiff_t low, ptrdiff_t v, ptrdiff_t high) {
  return v < low ? low : v > high ? high : v;
}

/* The steps where every lane has a cell run without masks; only the ramps at both ends pay. */
V_INLINE void forward_line(int hard, int strip, int keep, const sdtw_real *cost, sdtw_border border,
                           sdtw_real *saved, sdtw_real *kept, const sdtw_span *span, ptrdiff_t from,
                           ptrdiff_t to) {
  forward_state state = {.cost = cost, .kept = kept};
  if (from == span->first)
    start_line(hard, strip, border, span, &state);
  else
    resume_line(saved, &state);
  ptrdiff_t begin = between(from, span->inner_first, to);
  ptrdiff_t end = between(begin, span->inner_last + 1, to);
  for (int ramp = 0; ramp < 2; ramp++) {
    forward_run(hard, strip, keep, 1, border, &state, span, ramp ? end : from, ramp ? to : begin);
    if (!ramp) forward_run(hard, strip, keep, 0, border, &state, span, begin, end);
  }
  pair_store(saved, state.left.mantissa);
  pair_store(saved + LANES, state.left.exponent);
  pair_store(saved + 2 * LANES, state.diagonal.mantissa);
  pair_store(saved + 3 * LANES, state.diagonal.exponent);
}

#define FORWARD_VARIANT(NAME, HARD, STRIP, KEEP)                                         \
  V_TARGET static void NAME(const sdtw_real *cost, sdtw_border border, sdtw_real *state, \
                            sdtw_real *kept, const sdtw_span *span, ptrdiff_t from,      \
                            ptrdiff_t to) {                                              \
    forward_line(HARD, STRIP, KEEP, cost, border, state, kept, span, from, to);          \
  }
FORWARD_VARIANT(forward_soft_pack, 0, 0, 0)
FORWARD_VARIANT(forward_soft_pack_keep, 0, 0, 1)
FORWARD_VARIANT(forward_soft_strip, 0, 1, 0)
FORWARD_VARIANT(forward_soft_strip_keep, 0, 1, 1)
FORWARD_VARIANT(forward_hard_pack, 1, 0, 0)
FORWARD_VARIANT(forward_hard_pack_keep, 1, 0, 1)
FORWARD_VARIANT(forward_hard_strip, 1, 1, 0)
FORWARD_VARIANT(forward_hard_strip_keep, 1, 1, 1)
#undef FORWARD_VARIANT

/* ---- backward ------------------------------------------------------------------------------ */

/* E of a cell is what its three successors owe it: each successor's E times the share that this
 * cell had in its sum. `left` debts go along the line; the row above lies one step later for `up`
 * debts and two for `diagonal` ones, so those wait in registers. */
V_INLINE void backward_line(int strip, const sdtw_real *kept, sdtw_debt debt, sdtw_real *state,
                            sdtw_real *alignment, ptrdiff_t from, ptrdiff_t to) {
  pair owed_left = pair_load(state), owed_up = pair_load(state + LANES);
  pair owed_diagonal = pair_load(state + 2 * LANES), older = pair_load(state + 3 * LANES);
  for (ptrdiff_t t = to - 1; t >= from; t--) {
    const sdtw_real *share = kept + (t - from) * SDTW_SHARES * LANES;
    pair up = rows_up(strip, owed_up, debt.up, t - lag_of(strip));
    pair diagonal = rows_up(strip, older, debt.diagonal, t - lag_of(strip));
    pair e = pair_add(pair_add(up, owed_left), diagonal);
    pair_store(alignment + (t - from) * LANES, e);
    older = owed_diagonal;
    owed_up = pair_kept_mul(e, pair_load(share));
    owed_left = pair_kept_mul(e, pair_load(share + LANES));
    owed_diagonal = pair_kept_mul(e, pair_load(share + 2 * LANES));
    store_first_row(strip, debt.up, t, owed_up);
    store_first_row(strip, debt.diagonal, t - 1, owed_diagonal);
  }
  pair_store(state, owed_left);
  pair_store(state + LANES, owed_up);
  pair_store(state + 2 * LANES, owed_diagonal);
  pair_store(state + 3 * LANES, older);
}

V_TARGET static void backward(int strip, const sdtw_real *kept, sdtw_debt debt, sdtw_real *state,
                              sdtw_real *alignment, ptrdiff_t from, ptrdiff_t to) {
  if (strip) {
    backward_line(1, kept, debt, state, alignment, from, to);
  } else {
    backward_line(0, kept, debt, state, alignment, from, to);
  }
}

V_TARGET static void fill(sdtw_real *to, size_t count, sdtw_real value) {
  const V all = v_set(value);
  size_t i = 0;
  for (; i + V_WIDTH <= count; i += V_WIDTH) v_store(to + i, all);
  for (; i < count; i++) to[i] = value;
}

V_TARGET static void spread(sdtw_real *numbers, size_t count) {
  for (size_t i = count; i-- > 0;) v_store(numbers + i * V_WIDTH, v_set(numbers[i]));
}

/* ---- ground costs -------------------------------------------------------------------------- */

V_INLINE pair add_distance(int kind, pair sum, pair difference) {
  return kind == SDTW_MANHATTAN ? pair_add(sum, pair_abs(difference))
                                : pair_fma(difference, difference, sum);
}

V_INLINE pair distance(int kind, const sdtw_real *x, const sdtw_real *y, sdtw_view view, size_t d) {
  pair sum = pair_set(0);
  for (size_t k = 0; k < d; k++, y += view.dim) {
    pair difference = pair_sub(pair_load(x + k * LANES), load_points(y, view.second));
    sum = add_distance(kind, sum, difference);
  }
  return kind == SDTW_EUCLIDEAN ? pair_sqrt(sum) : sum;
}

typedef struct {
  pair a, b, c, d;
} four;

V_INLINE four four_roots(four x) {
  return (four){pair_sqrt(x.a), pair_sqrt(x.b), pair_sqrt(x.c), pair_sqrt(x.d)};
}

/* The distances of four steps at once: one alone would wait for each of its own sums. */
V_INLINE four four_distances(int kind, const sdtw_real *x, const sdtw_real *y, sdtw_view view,
                             size_t d) {
  four sum = {pair_set(0), pair_set(0), pair_set(0), pair_set(0)};
  for (size_t k = 0; k < d; k++, y += view.dim) {
    pair x_k = pair_load(x + k * LANES);
    sum.a = add_distance(kind, sum.a, pair_sub(x_k, load_points(y, view.second)));
    sum.b = add_distance(kind, sum.b, pair_sub(x_k, load_points(y + view.step, view.second)));
    sum.c = add_distance(kind, sum.c, pair_sub(x_k, load_points(y + 2 * view.step, view.second)));
    sum.d = add_distance(kind, sum.d, pair_sub(x_k, load_points(y + 3 * view.step, view.second)));
  }
  return kind == SDTW_EUCLIDEAN ? four_roots(sum) : sum;
}

V_INLINE void cost_line(int kind, sdtw_real scale, const sdtw_real *x, sdtw_view y, size_t d,
                        size_t count, sdtw_real *out) {
  pair factor = pair_set(scale);
  const sdtw_real *at = y.at;
  size_t t = 0;
  for (; t + 4 <= count; t += 4, at += 4 * y.step, out += 4 * LANES) {
    four cost = four_distances(kind, x, at, y, d);
    pair_store(out, pair_mul(cost.a, factor));
    pair_store(out + LANES, pair_mul(cost.b, factor));
    pair_store(out + 2 * LANES, pair_mul(cost.c, factor));
    pair_store(out + 3 * LANES, pair_mul(cost.d, factor));
  }
  for (; t < count; t++, at += y.step, out += LANES)
    pair_store(out, pair_mul(distance(kind, x, at, y, d), factor));
}

V_TARGET static void cost(int kind, sdtw_real scale, const sdtw_real *x, const sdtw_view *y,
                          size_t d, size_t count, sdtw_real *out) {
  if (kind == SDTW_MANHATTAN) {
    cost_line(SDTW_MANHATTAN, scale, x, *y, d, count, out);
  } else if (kind == SDTW_EUCLIDEAN) {
    cost_line(SDTW_EUCLIDEAN, scale, x, *y, d, count, out);
  } else if (d == 1) {
    cost_line(SDTW_SQEUCLIDEAN, scale, x, *y, 1, count, out);
  } else if (d == 2) {
    cost_line(SDTW_SQEUCLIDEAN, scale, x, *y, 2, count, out);
  } else if (d == 3) {
    cost_line(SDTW_SQEUCLIDEAN, scale, x, *y, 3, count, out);
  } else {
    cost_line(SDTW_SQEUCLIDEAN, scale, x, *y, d, count, out);
  }
}

/* Four columns of y against all rows of a strip, lanes being rows. */
V_INLINE four column_distances(int kind, const sdtw_real *x, const sdtw_real *y, size_t d) {
  four sum = {pair_set(0), pair_set(0), pair_set(0), pair_set(0)};
  for (size_t k = 0; k < d; k++, x += LANES, y++) {
    pair x_k = pair_load(x);
    sum.a = add_distance(kind, sum.a, pair_sub(x_k, pair_set(y[0])));
    sum.b = add_distance(kind, sum.b, pair_sub(x_k, pair_set(y[d])));
    sum.c = add_distance(kind, sum.c, pair_sub(x_k, pair_set(y[2 * d])));
    sum.d = add_distance(kind, sum.d, pair_sub(x_k, pair_set(y[3 * d])));
  }
  return kind == SDTW_EUCLIDEAN ? four_roots(sum) : sum;
}

/* From columns to steps: lane l of step t is lane l of column t - l. The delay is put together from
 * the bits of l, a stage for each, in which the lanes with the bit take what entered the stage 1,
 * 2, 4 or 8 steps ago. Either half of the lanes is delayed by its own numbers only; the second half
 * is written further on. */
typedef struct {
  four before[4], older; /* what entered each stage the last time; the last stage, before that */
} delays;

V_INLINE four delay_stage(int bit, pair_mask with_bit, delays *past, four now) {
  four before = past->before[bit], late = before;
  if (bit == 0) late = (four){before.d, now.a, now.b, now.c};
  if (bit == 1) late = (four){before.c, before.d, now.a, now.b};
  if (bit == 3) {
    late = past->older;
    past->older = before;
  }
  past->before[bit] = now;
  return (four){pair_select(with_bit, late.a, now.a), pair_select(with_bit, late.b, now.b),
                pair_select(with_bit, late.c, now.c), pair_select(with_bit, late.d, now.d)};
}

V_INLINE pair_mask lanes_with(int bit) {
  sdtw_real has[V_WIDTH];
  for (int l = 0; l < V_WIDTH; l++) has[l] = (sdtw_real)(l >> bit & 1);
  M mask = v_less_equal(v_set(1), v_load(has));
  return (pair_mask){mask, mask};
}

V_INLINE void put_steps(sdtw_real *out, pair cost) {
  v_store(out, cost.a);
  v_store(out + V_WIDTH * LANES + V_WIDTH, cost.b);
}

V_INLINE void cost_columns(int kind, sdtw_real scale, const sdtw_real *x, const sdtw_real *y,
                           size_t d, size_t count, sdtw_real *state, sdtw_real *out) {
  const pair_mask odd = lanes_with(0), second = lanes_with(1), fourth = lanes_with(2);
  const pair_mask eighth = lanes_with(3);
  pair factor = pair_set(scale);
  delays past;
  memcpy(&past, state, sizeof past);
  for (size_t c = 0; c < count; c += 4, y += 4 * d, out += 4 * LANES) {
    four now = delay_stage(0, odd, &past, column_distances(kind, x, y, d));
    if (V_WIDTH > 2) now = delay_stage(1, second, &past, now);
    if (V_WIDTH > 4) now = delay_stage(2, fourth, &past, now);
    if (V_WIDTH > 8) now = delay_stage(3, eighth, &past, now);
    put_steps(out, pair_mul(now.a, factor));
    put_steps(out + LANES, pair_mul(now.b, factor));
    put_steps(out + 2 * LANES, pair_mul(now.c, factor));
    put_steps(out + 3 * LANES, pair_mul(now.d, factor));
  }
  memcpy(state, &past, sizeof past);
}

V_TARGET static void strip_cost(int kind, sdtw_real scale, const sdtw_real *x, const sdtw_real *y,
                                size_t d, size_t count, sdtw_real *state, sdtw_real *out) {
  if (kind == SDTW_MANHATTAN) {
    cost_columns(SDTW_MANHATTAN, scale, x, y, d, count, state, out);
  } else if (kind == SDTW_EUCLIDEAN) {
    cost_columns(SDTW_EUCLIDEAN, scale, x, y, d, count, state, out);
  } else {
    cost_columns(SDTW_SQEUCLIDEAN, scale, x, y, d, count, state, out);
  }
}

/* ---- gradients ----------------------------------------------------------------------------- */

/* Both gradients add their terms in descending order of the other index, so that swapping the
 * series swaps the bits too. */
V_INLINE pair gradient_term(int kind, pair e, pair difference) {
  if (kind != SDTW_MANHATTAN) return pair_mul(e, difference);
  V zero = v_set(0);
  pair_mask up = {v_less_equal(zero, difference.a), v_less_equal(zero, difference.b)};
  pair_mask down = {v_less_equal(difference.a, zero), v_less_equal(difference.b, zero)};
  pair none = pair_set(0);
  return pair_sub(pair_select(up, e, none), pair_select(down, e, none));
}

V_INLINE pair gradient_sum(int kind, pair e, pair difference, pair sum) {
  return kind == SDTW_MANHATTAN ? pair_add(sum, gradient_term(kind, e, difference))
                                : pair_fma(e, difference, sum);
}

/* One dimension's sums on their way along a line: of x's gradient, and in a strip of y's. */
typedef struct {
  pair x, sum, moving;
  const sdtw_real *y;
  sdtw_real *gy;
} gradient_sums;

V_INLINE gradient_sums start_sums(const sdtw_real *x, sdtw_view y, sdtw_columns gy,
                                  const sdtw_real *gx, const sdtw_real *travel, size_t k) {
  ptrdiff_t dim = (ptrdiff_t)k;
  return (gradient_sums){pair_load(x + k * LANES), pair_load(gx + k * LANES),
                         pair_load(travel + k * LANES), y.at + dim * y.dim,
                         gy.at ? gy.at + dim * gy.dim : NULL};
}

V_INLINE void end_sums(const gradient_sums *s, sdtw_real *gx, sdtw_real *travel, size_t k) {
  pair_store(gx + k * LANES, s->sum);
  pair_store(travel + k * LANES, s->moving);
}

V_INLINE void add_step(int kind, int strip, int with_y, pair e, ptrdiff_t t, ptrdiff_t back,
                       ptrdiff_t second, ptrdiff_t gy_step, gradient_sums *s) {
  pair y_t = load_points(s->y + back, second);
  s->sum = gradient_sum(kind, e, pair_sub(s->x, y_t), s->sum);
  if (!with_y) return;
  /* A column's sum passes the rows from the last to the first. */
  sdtw_real *entering = s->gy + (t - lag_of(strip)) * gy_step, *leaving = s->gy + t * gy_step;
  s->moving = rows_up(strip, s->moving, entering, 0);
  s->moving = gradient_sum(kind, e, pair_sub(y_t, s->x), s->moving);
  store_first_row(strip, leaving, 0, s->moving);
}

/* Four dimensions at once, so that their sums need not wait for one another's additions. */
V_INLINE void gradient_line(int kind, int strip, int with_y, const sdtw_real *alignment,
                            const sdtw_real *x, sdtw_view y, size_t d, ptrdiff_t from, ptrdiff_t to,
                            sdtw_real *gx, sdtw_columns gy, sdtw_real *travel) {
  size_t k = 0;
  for (; k + 4 <= d; k += 4) {
    gradient_sums s0 = start_sums(x, y, gy, gx, travel, k);
    gradient_sums s1 = start_sums(x, y, gy, gx, travel, k + 1);
    gradient_sums s2 = start_sums(x, y, gy, gx, travel, k + 2);
    gradient_sums s3 = start_sums(x, y, gy, gx, travel, k + 3);
    for (ptrdiff_t t = to - 1; t >= from; t--) {
      pair e = pair_load(alignment + (t - from) * LANES);
      ptrdiff_t back = (t - from) * y.step;
      add_step(kind, strip, with_y, e, t, back, y.second, gy.step, &s0);
      add_step(kind, strip, with_y, e, t, back, y.second, gy.step, &s1);
      add_step(kind, strip, with_y, e, t, back, y.second, gy.step, &s2);
      add_step(kind, strip, with_y, e, t, back, y.second, gy.step, &s3);
    }
    end_sums(&s0, gx, travel, k);
    end_sums(&s1, gx, travel, k + 1);
    end_sums(&s2, gx, travel, k + 2);
    end_sums(&s3, gx, travel, k + 3);
  }
  for (; k < d; k++) {
    gradient_sums s = start_sums(x, y, gy, gx, travel, k);
    for (ptrdiff_t t = to - 1; t >= from; t--)
      add_step(kind, strip, with_y, pair_load(alignment + (t - from) * LANES), t,
               (t - from) * y.step, y.second, gy.step, &s);
    end_sums(&s, gx, travel, k);
  }
}

/* d |x - y| / d x = (x - y) / |x - y|, and 0 where the points coincide */
V_INLINE void divide_by_distance(sdtw_real *alignment, const sdtw_real *x, sdtw_view y, size_t d,
                                 size_t count) {
  pair zero = pair_set(0);
  for (size_t t = 0; t < count; t++) {
    pair length = distance(SDTW_EUCLIDEAN, x, y.at + (ptrdiff_t)t * y.step, y, d);
    pair e = pair_load(alignment + t * LANES);
    pair_mask coincide = {v_less_equal(length.a, zero.a), v_less_equal(length.b, zero.b)};
    pair ratio = {e.a / length.a, e.b / length.b};
    pair_store(alignment + t * LANES, pair_select(coincide, zero, ratio));
  }
}

V_INLINE void gradient_kind(int kind, int strip, sdtw_real *alignment, const sdtw_real *x,
                            sdtw_view y, size_t d, ptrdiff_t from, ptrdiff_t to, sdtw_real *gx,
                            const sdtw_columns *gy, sdtw_real *travel) {
  const sdtw_columns none = {NULL, 0, 0};
  if (gy) {
    gradient_line(kind, strip, 1, alignment, x, y, d, from, to, gx, *gy, travel);
  } else {
    gradient_line(kind, strip, 0, alignment, x, y, d, from, to, gx, none, travel);
  }
}

V_TARGET static void gradient(int kind, int strip, sdtw_real *alignment, const sdtw_real *x,
                              const sdtw_view *y, size_t d, ptrdiff_t from, ptrdiff_t to,
                              sdtw_real *gx, const sdtw_columns *gy, sdtw_real *travel) {
  if (kind == SDTW_EUCLIDEAN) divide_by_distance(alignment, x, *y, d, (size_t)(to - from));
  if (kind == SDTW_MANHATTAN) {
    if (strip) {
      gradient_kind(SDTW_MANHATTAN, 1, alignment, x, *y, d, from, to, gx, gy, travel);
    } else {
      gradient_kind(SDTW_MANHATTAN, 0, alignment, x, *y, d, from, to, gx, gy, travel);
    }
  } else {
    if (strip) {
      gradient_kind(SDTW_SQEUCLIDEAN, 1, alignment, x, *y, d, from, to, gx, gy, travel);
    } else {
      gradient_kind(SDTW_SQEUCLIDEAN, 0, alignment, x, *y, d, from, to, gx, gy, travel);
    }
  }
}

V_TARGET static void moments(const sdtw_real *alignment, const sdtw_real *x, const sdtw_view *y,
                             size_t d, size_t count, sdtw_real *mass, sdtw_real *square) {
  pair sum = pair_load(mass);
  for (size_t t = 0; t < count; t++) sum = pair_add(sum, pair_load(alignment + t * LANES));
  pair_store(mass, sum);
  for (size_t k = 0; k < d; k++) {
    pair x_k = pair_load(x + k * LANES), total = pair_load(square + k * LANES);
    const sdtw_real *y_k = y->at + (ptrdiff_t)k * y->dim;
    for (size_t t = 0; t < count; t++) {
      pair difference = pair_sub(x_k, load_points(y_k + (ptrdiff_t)t * y->step, y->second));
      total = pair_fma(pair_load(alignment + t * LANES), pair_mul(difference, difference), total);
    }
    pair_store(square + k * LANES, total);
  }
}

const sdtw_kernels SDTW_TABLE = {
    .lanes = LANES,
    .width = V_WIDTH,
    .origin = ORIGIN,
    .most = MOST_COST,
    .fill = fill,
    .spread = spread,
    .cost = cost,
    .strip_cost = strip_cost,
    .forward = {{{forward_soft_pack, forward_soft_pack_keep},
                 {forward_soft_strip, forward_soft_strip_keep}},
                {{forward_hard_pack, forward_hard_pack_keep},
                 {forward_hard_strip, forward_hard_strip_keep}}},
    .backward = backward,
    .gradient = gradient,
    .moments = moments,
};
