/* See sweep.h. */
#include "sweep.h"

#include <math.h>
#include <string.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* Steps handed to a kernel at once, a multiple of 4: their costs stay in the first-level cache,
 * which they share with much more where shares are kept and E is handed on. */
enum { LONG_CHUNK = 160, SHORT_CHUNK = 48 };
/* Shares of a block of lines, bytes: what a second-level cache of 1 to 2 MB can hold. */
static const size_t block_budget = (size_t)1 << 20;
/* Borders of a long pair, bytes. */
static const size_t border_budget = (size_t)128 << 20;
/* Border and y of a pack, bytes: each pair brings its own, and every line passes over them. A
 * strip's lanes share one y, so long series and those of many dimensions go alone. */
static const size_t pack_budget = (size_t)100 << 10;
/* From so many dimensions on, a strip's costs are worked out column by column. */
static const size_t many_dimensions = 4;
/* A strip's step over a pack's: its lanes are shifted. */
static const double strip_burden = 1.15;
/* Columns of pairs that follow one another in a strip: eight series of length 128 with the far
 * points between them, and then some; their borders stay in the cache. */
static const ptrdiff_t chain_columns = 1536;

/* A path of a pair of moderate cost comes to less than this, in the kernels' units of gamma ln 2:
 * all exponents are then exact, and what has paid far_cost beside is nothing. */
#ifdef SDTW_SINGLE
static const double moderate_cost = 0x1p22;
#else
static const double moderate_cost = 0x1p42;
#endif
/* Even with the steps within a moderate pair added, this is less than 2^47, as kernels with limited
 * costs need: (2^23 + 2^20.5)^2 + 2^41 for the squared cost. */
static const double far_cost = 0x1p46;

static const double ln2 = 0.693147180559945309417232121458;

/* ---- layout -------------------------------------------------------------------------------- */

static sdtw_real *take_reals(sdtw_arena *arena, size_t count) {
  return sdtw_take(arena, count, sizeof(sdtw_real));
}

static size_t at_least(size_t low, size_t v) { return v < low ? low : v; }
static size_t at_most(size_t high, size_t v) { return v > high ? high : v; }

/* Steps that the last row of a line lags behind the first. */
static ptrdiff_t lag(const sdtw_sweep *s) { return s->strip ? s->kernels->lanes - 1 : 1; }

static size_t line_shares(const sdtw_sweep *s) {
  return (size_t)(s->m_max + lag(s)) * SDTW_SHARES * (size_t)s->kernels->lanes;
}

/* Lines go together in a block while their shares fit the cache. */
static void choose_blocks(sdtw_sweep *s) {
  size_t balanced = (size_t)ceil(sqrt((double)s->lines));
  size_t fitting = border_budget / (s->border_size * sizeof(sdtw_real));
  s->block = at_most(s->lines, at_least(1, block_budget / (line_shares(s) * sizeof(sdtw_real))));
  s->superblock = at_most(s->lines, at_least(balanced, fitting * s->block));
}

/* What is reserved must not shrink when n or m grows, though a block may then have fewer lines:
 * scratch memory is planned for the longest pair and serves all others. */
static size_t shares_reserved(const sdtw_sweep *s) {
  size_t line = line_shares(s);
  return at_most(s->lines * line, at_least(line, block_budget / sizeof(sdtw_real)));
}

static size_t inner_reserved(const sdtw_sweep *s) {
  size_t balanced = (size_t)ceil(sqrt((double)s->lines)) * s->border_size;
  return at_most(s->lines * s->border_size, at_least(balanced, border_budget / sizeof(sdtw_real)));
}

/* Reals from one dimension of a strip's y to the next: an odd number of cache lines, so that the
 * dimensions of one step do not fall into the same few sets of the cache. */
static ptrdiff_t strip_y_dim(const sdtw_sweep *s) {
  ptrdiff_t line = SDTW_CACHE_LINE / (ptrdiff_t)sizeof(sdtw_real);
  return ((s->m_max + 2 * s->kernels->lanes + line - 1) / line | 1) * line;
}

/* Columns of borders, debts and gradients of y run from `front` before column 0 (a line's last rows
 * reach that far to the left of it) to as far behind column m. */
static size_t front(const sdtw_sweep *s) { return (size_t)lag(s) + 1; }

static sdtw_real *take_columns(sdtw_sweep *s, sdtw_arena *arena) {
  sdtw_real *all = take_reals(arena, s->columns * s->stride);
  return all ? all + front(s) * s->stride : NULL;
}

static ptrdiff_t chunk_of(const sdtw_sweep *s) { return s->wants ? SHORT_CHUNK : LONG_CHUNK; }

static int by_columns(const sdtw_sweep *s) { return s->strip && s->d >= many_dimensions; }

/* Costs by columns take four at a time. */
static ptrdiff_t whole_fours(ptrdiff_t columns) { return (columns + 3) / 4 * 4; }

/* The last rows of a line meet columns beyond the last. */
static size_t points_columns(const sdtw_sweep *s) {
  return (size_t)whole_fours(s->m_max + s->kernels->lanes);
}

/* The layout of y by steps serves the costs of few dimensions and all gradients. */
static int by_steps(const sdtw_sweep *s) { return !by_columns(s) || s->wants; }

/* What the next load may find still in place comes first: x of a strip, y of a pack. */
static void take_series(sdtw_sweep *s, sdtw_arena *arena) {
  size_t m = (size_t)s->m_max, x_size = s->lines * s->d * (size_t)s->kernels->lanes;
  if (s->strip) {
    s->x = take_reals(arena, x_size);
    s->points = take_reals(arena, points_columns(s) * s->d);
    s->delays = take_reals(arena, SDTW_DELAY_STATE * (size_t)s->kernels->lanes);
    s->y = take_reals(arena, by_steps(s) ? s->d * (size_t)strip_y_dim(s) : 0);
  } else {
    s->y = take_reals(arena, (m + 2) * s->d * s->stride);
    s->x = take_reals(arena, x_size);
  }
}

static void lay_out(sdtw_sweep *s, sdtw_arena *arena) {
  size_t lanes = (size_t)s->kernels->lanes, n = (size_t)s->n_max, m = (size_t)s->m_max, d = s->d;
  s->rows = s->strip ? lanes : 2;
  s->lines = (n + s->rows - 1) / s->rows;
  s->stride = s->strip ? 1 : (size_t)s->kernels->width;
  s->columns = m + 2 + 2 * s->rows;
  s->border_size = 2 * s->columns * s->stride;

  sdtw_take(arena, d, sizeof(sdtw_reach)); /* s->reach, needed before anything is laid out */
  take_series(s, arena);
  s->border.mantissa = take_columns(s, arena);
  s->border.exponent = take_columns(s, arena);
  s->cost = take_reals(arena, ((size_t)chunk_of(s) + lanes) * lanes);
  s->state = take_reals(arena, SDTW_FORWARD_STATE * lanes);
  if (!s->wants) return;

  choose_blocks(s);
  size_t superblocks = (s->lines + s->superblock - 1) / s->superblock;
  s->outer = take_reals(arena, superblocks * s->border_size);
  s->inner = take_reals(arena, inner_reserved(s));
  s->shares = take_reals(arena, shares_reserved(s));
  s->alignment = take_reals(arena, (size_t)chunk_of(s) * lanes);
  s->debt.up = take_columns(s, arena);
  s->debt.diagonal = take_columns(s, arena);
  s->gx = take_reals(arena, s->lines * d * lanes);
  s->gy = take_reals(arena, d * s->columns * s->stride);
  s->travel = take_reals(arena, d * lanes);
  s->mass = take_reals(arena, s->lines * lanes);
  s->square = take_reals(arena, s->lines * d * lanes);
}

static void place(sdtw_sweep *s) {
  s->scratch.used = 0;
  lay_out(s, &s->scratch);
}

static size_t bytes_for(sdtw_sweep *s, int strip, ptrdiff_t n, ptrdiff_t m) {
  sdtw_arena counting = {NULL, 0};
  s->strip = strip;
  s->n_max = n;
  s->m_max = m;
  lay_out(s, &counting);
  return counting.used;
}

/* The longest series that a pack may hold. */
static ptrdiff_t longest_pack(const sdtw_sweep *s) {
  return (ptrdiff_t)(pack_budget / ((s->d + 2) * (size_t)s->kernels->width * sizeof(sdtw_real)));
}

static const sdtw_kernels *kernels_of(sdtw_isa isa) {
#if defined(__x86_64__)
  if (isa == SDTW_AVX512) return &sdtw_kernels_avx512;
  if (isa == SDTW_AVX2) return &sdtw_kernels_avx2;
#endif
  (void)isa;
  return &sdtw_kernels_generic;
}

static void choose_kernels(sdtw_sweep *s, sdtw_isa isa) {
  s->usual = s->unlimited = kernels_of(isa);
  /* every processor with AVX-512 has AVX2 */
  if (s->usual->most < HUGE_VAL) s->unlimited = kernels_of(SDTW_AVX2);
  s->kernels = s->usual;
}

void sdtw_sweep_init(sdtw_sweep *s, const sdtw_job *job, int wants, const double *centre,
                     void *scratch) {
  const sdtw_options *options = &job->options;
  memset(s, 0, sizeof *s);
  choose_kernels(s, options->isa);
  s->centre = centre;
  s->x_set = job->x;
  s->y_set = job->y;
  s->gamma = options->gamma;
  s->hard = options->gamma == 0;
  s->cost_kind = options->cost;
  s->kind = options->cost == SDTW_COSINE ? SDTW_SQEUCLIDEAN : (int)options->cost;
  s->window = options->window;
  s->wants = wants;
  s->d = job->given_cost ? 0 : job->x->d;
  s->scratch.base = scratch;
  s->reach = scratch;
  sdtw_sweep_set_unit(s, 1);
}

void sdtw_sweep_set_unit(sdtw_sweep *s, double unit) {
  double cost_unit = s->kind == SDTW_SQEUCLIDEAN ? unit * unit : unit;
  /* The cosine cost is half the squared distance of unit vectors. */
  double half = s->cost_kind == SDTW_COSINE ? 0.5 : 1;
  s->per_unit = 1 / unit;
  s->scale = half * (s->hard ? 1 : cost_unit / s->gamma / ln2);
  s->hard_unit = cost_unit;
  s->square_unit = unit * unit;
  s->factor = s->kind == SDTW_SQEUCLIDEAN ? 2 * half * unit : 1;
  s->far = far_cost / s->scale;
  if (s->kind == SDTW_SQEUCLIDEAN) s->far = sqrt(s->far);
}

/* ---- what paths can cost ------------------------------------------------------------------- */

static int is_moderate(const sdtw_sweep *s, const sdtw_reach *reach, double steps) {
  double farthest = 0;
  for (size_t k = 0; k < s->d; k++) {
    double apart = (reach[k].high - reach[k].low) * s->per_unit;
    farthest += s->kind == SDTW_MANHATTAN ? apart : apart * apart;
  }
  if (s->kind == SDTW_EUCLIDEAN) farthest = sqrt(farthest);
  return farthest * s->scale * steps < moderate_cost;
}

void sdtw_sweep_set_reach(sdtw_sweep *s, const sdtw_reach *reach) {
  s->all_moderate = is_moderate(s, reach, (double)s->x_set->longest + (double)s->y_set->longest);
  s->far_point = (reach[0].high - s->centre[0]) * s->per_unit + s->far;
}

static int is_moderate_pair(sdtw_sweep *s, sdtw_pair p) {
  if (s->all_moderate) return 1;
  sdtw_reach_clear(s->reach, s->d);
  sdtw_reach_widen(s->reach, s->x_set, p.x);
  sdtw_reach_widen(s->reach, s->y_set, p.y);
  return is_moderate(s, s->reach, (double)s->x_set->length[p.x] + (double)s->y_set->length[p.y]);
}

static int is_moderate_matrix(const sdtw_sweep *s, const double *cost, size_t n, size_t m) {
  double most = 0;
  for (size_t i = 0; i < n * m; i++) most = fmax(most, fabs(cost[i]));
  return most * s->scale * ((double)n + (double)m) < moderate_cost;
}

static void use_kernels(sdtw_sweep *s, int moderate) {
  const sdtw_kernels *kernels = moderate || s->hard ? s->usual : s->unlimited;
  if (kernels != s->kernels) s->held_pairs = 0;
  s->kernels = kernels;
  s->moderate = moderate;
}

/* ---- bytes --------------------------------------------------------------------------------- */

size_t sdtw_sweep_bytes(const sdtw_job *job, int wants) {
  sdtw_sweep s;
  sdtw_sweep_init(&s, job, wants, NULL, NULL);
  ptrdiff_t n = job->given_cost ? (ptrdiff_t)job->given_n : job->x->longest;
  ptrdiff_t m = job->given_cost ? (ptrdiff_t)job->given_m : job->y->longest;
  size_t most = 0;
  for (int moderate = 0; moderate < 2; moderate++) {
    use_kernels(&s, moderate);
    ptrdiff_t limit = longest_pack(&s), chain = wants || m > chain_columns ? m : chain_columns;
    most = at_least(most, bytes_for(&s, 1, n, chain));
    most = at_least(most, bytes_for(&s, 0, n < limit ? n : limit, m < limit ? m : limit));
  }
  return most;
}

/* ---- loading ------------------------------------------------------------------------------- */

static const double *series(const sdtw_set *set, size_t i) { return set->values + set->start[i]; }

/* A pair of odd n starts with the second row of the first line, so that every pair ends with the
 * last row of a line, whose cells are in the border afterwards. */
static ptrdiff_t skipped(const sdtw_sweep *s, int pair) { return s->strip ? 0 : s->n[pair] % 2; }

static void forget_steps(sdtw_sweep *s) {
  s->span.origin = 0;
  s->steps[0] = (sdtw_range){0, -1};
}

/* What all spans of these pairs have in common. */
static void start_spans(sdtw_sweep *s) {
  s->has_inner_span = 0;
  s->alike = 1;
  forget_steps(s);
  s->span.due = 2;
  s->first_end = s->lines;
  for (int pair = 0; pair < (int)s->stride; pair++) {
    if (s->n[pair] != s->n[0] || s->m[pair] != s->m[0]) s->alike = 0;
    if (skipped(s, pair)) s->span.due = 3;
    s->last_line[pair] = ((size_t)s->n[pair] + s->rows - 1) / s->rows - 1;
    s->first_end = at_most(s->last_line[pair], s->first_end);
    for (size_t r = 0; r < s->rows; r++)
      s->span.skip[r * s->stride + (size_t)pair] = (sdtw_real)skipped(s, pair);
  }
}

static ptrdiff_t clamp(ptrdiff_t low, ptrdiff_t v, ptrdiff_t high) {
  return v < low ? low : v > high ? high : v;
}

static sdtw_real taken(const sdtw_sweep *s, const double *point, size_t k) {
  return (sdtw_real)((point[k] - s->centre[k]) * s->per_unit);
}

/* One point, `apart` numbers from one dimension to the next. */
static void take_point(const sdtw_sweep *s, const double *point, size_t apart, sdtw_real *to) {
  for (size_t k = 0; k < s->d; k++) to[k * apart] = taken(s, point, k);
}

/* x row by row, `apart` numbers from one place to the next. Rows that a line has beyond the series
 * repeat its ends, so that costs there stay in range. */
static void take_rows(const sdtw_sweep *s, int pair, const double *point, size_t apart,
                      sdtw_real *line) {
  const size_t d = s->d, step = s->rows * apart;
  const ptrdiff_t last = s->n[pair] - 1;
  ptrdiff_t row = -skipped(s, pair);
  for (size_t number = 0; number < s->lines; number++, line += d * step) {
    for (size_t r = 0; r < s->rows; r++, row++) {
      take_point(s, point, step, line + r * apart);
      if (row >= 0 && row < last) point += d;
    }
  }
}

static void load_x(sdtw_sweep *s, int pair, const double *values) {
  take_rows(s, pair, values, s->stride, s->x + pair);
}

/* The same x for all pairs of a pack. */
static void load_common_x(sdtw_sweep *s, const double *values) {
  take_rows(s, 0, values, 1, s->x);
  s->kernels->spread(s->x, s->lines * s->rows * s->d);
}

/* In a pack column j of y is at [j][dimension][pair]; columns 0 and m + 1 repeat the ends. */
static void load_pack_y(sdtw_sweep *s, int pair, const double *point) {
  const ptrdiff_t m = s->m[pair];
  sdtw_real *column = s->y + pair;
  for (ptrdiff_t j = 0; j < s->m_max + 2; j++, column += s->d * s->stride) {
    take_point(s, point, s->stride, column);
    if (j > 0 && j < m) point += s->d;
  }
}

static void take_points(const sdtw_sweep *s, const double *from, size_t count, sdtw_real *to) {
#ifndef SDTW_SINGLE
  if (s->per_unit == 1) { /* and the centre is 0 */
    memcpy(to, from, count * s->d * sizeof *to);
    return;
  }
#endif
  for (size_t j = 0; j < count; j++, from += s->d, to += s->d) {
    for (size_t k = 0; k < s->d; k++) to[k] = taken(s, from, k);
  }
}

/* The y's of a strip one after another, a far point between each two; beyond the last column it is
 * repeated. */
static void load_points(sdtw_sweep *s, const sdtw_pair *pairs) {
  size_t d = s->d, end = points_columns(s);
  sdtw_real *out = s->points;
  for (int pair = 0; pair < s->used; pair++) {
    const double *values = series(s->y_set, pairs[pair].y);
    if (pair > 0) {
      memcpy(out, out - d, d * sizeof(sdtw_real));
      out[0] = (sdtw_real)s->far_point;
      out += d;
    }
    take_points(s, values, (size_t)s->m[pair], out);
    out += (size_t)s->m[pair] * d;
  }
  for (; out < s->points + end * d; out += d) memcpy(out, out - d, d * sizeof(sdtw_real));
}

/* The same backwards, one dimension after the other, so that the columns step, step - 1, ... of the
 * lanes are neighbours in memory. Before the first column it is repeated. */
static void turn_points(sdtw_sweep *s) {
  ptrdiff_t lanes = s->kernels->lanes, length = strip_y_dim(s), d = (ptrdiff_t)s->d;
  ptrdiff_t beyond = (ptrdiff_t)points_columns(s) - 1;
  for (ptrdiff_t k = 0; k < d; k++) {
    sdtw_real *out = s->y + k * length;
    for (ptrdiff_t t = 0; t < length; t++)
      out[t] = s->points[clamp(0, s->m_max - 1 - (t - lanes), beyond) * d + k];
  }
}

static void load_y(sdtw_sweep *s, const sdtw_pair *pairs) {
  load_points(s, pairs);
  if (by_steps(s)) turn_points(s);
}

/* Pairs of a tile come with the same y's in the same order time and again. A strip's lie behind
 * its x, so x must have as many lines. */
static int holds_y(const sdtw_sweep *s, const sdtw_pair *pairs, int count) {
  if (s->held_strip != s->strip || s->held_pairs != count || s->held_steps != s->m_max) return 0;
  if (s->strip && s->held_lines != s->lines) return 0;
  for (int l = 0; l < count; l++) {
    if (s->held_y[l] != pairs[l].y) return 0;
  }
  return 1;
}

static int holds_x(const sdtw_sweep *s, sdtw_pair p) {
  return s->held_pairs > 0 && s->held_strip && s->held_x == p.x;
}

static void hold(sdtw_sweep *s, const sdtw_pair *pairs, int count) {
  s->held_strip = s->strip;
  s->held_pairs = count;
  s->held_steps = s->m_max;
  s->held_lines = s->lines;
  s->held_x = pairs[0].x;
  for (int l = 0; l < count; l++) s->held_y[l] = pairs[l].y;
}

static int one_x(const sdtw_pair *pairs, int count) {
  for (int l = 1; l < count; l++) {
    if (pairs[l].x != pairs[0].x) return 0;
  }
  return 1;
}

static void load_pack(sdtw_sweep *s, const sdtw_pair *pairs, int count) {
  int width = s->kernels->width;
  s->strip = 0;
  s->used = count;
  s->n_max = s->m_max = 0;
  for (int l = 0; l < width; l++) {
    sdtw_pair p = pairs[l < count ? l : 0]; /* lanes without a pair repeat the first */
    s->n[l] = s->x_set->length[p.x];
    s->m[l] = s->y_set->length[p.y];
    if (s->n[l] > s->n_max) s->n_max = s->n[l];
    if (s->m[l] > s->m_max) s->m_max = s->m[l];
  }
  place(s);
  start_spans(s);
  int held = holds_y(s, pairs, count), common = one_x(pairs, count);
  if (common) load_common_x(s, series(s->x_set, pairs[0].x));
  for (int l = 0; l < width; l++) {
    sdtw_pair p = pairs[l < count ? l : 0];
    if (!common) load_x(s, l, series(s->x_set, p.x));
    if (!held) load_pack_y(s, l, series(s->y_set, p.y));
  }
  hold(s, pairs, count);
}

static void place_strip(sdtw_sweep *s, ptrdiff_t n, ptrdiff_t columns) {
  s->strip = 1;
  s->n[0] = s->n_max = n;
  s->m_max = columns;
  place(s);
  start_spans(s);
}

static void load_strip(sdtw_sweep *s, const sdtw_pair *pairs, int count) {
  ptrdiff_t columns = 0;
  for (int pair = 0; pair < count; pair++) {
    s->before[pair] = columns + (pair > 0);
    s->m[pair] = s->y_set->length[pairs[pair].y];
    columns = s->before[pair] + s->m[pair];
  }
  s->used = count;
  place_strip(s, s->x_set->length[pairs[0].x], columns);
  if (!holds_x(s, pairs[0])) load_x(s, 0, series(s->x_set, pairs[0].x));
  if (!holds_y(s, pairs, count)) load_y(s, pairs);
  hold(s, pairs, count);
}

static double strip_effort(const sdtw_sweep *s, ptrdiff_t n, ptrdiff_t m) {
  double lanes = s->kernels->lanes;
  return strip_burden * lanes * ceil((double)n / lanes) * ((double)m + lanes - 1);
}

/* Going back over a pack is worth it only if its shares fit the cache whole: those of a single pair
 * are the fewer by the number of lanes. */
static int fits_pack(const sdtw_sweep *s, ptrdiff_t n, ptrdiff_t m) {
  size_t share_bytes = SDTW_SHARES * (size_t)s->kernels->width * sizeof(sdtw_real);
  if (n > longest_pack(s) || m > longest_pack(s)) return 0;
  return !s->wants || (size_t)n * (size_t)m * share_bytes <= block_budget;
}

/* Whether one pack of these pairs is less work than each of them alone. */
static int suits_pack(const sdtw_sweep *s, const sdtw_pair *pairs, int count) {
  ptrdiff_t n = 0, m = 0, n_max = 0, m_max = 0;
  double effort = 0, alone = 0;
  for (int l = 0; l < count; l++) {
    ptrdiff_t n_before = n, m_before = m;
    n = s->x_set->length[pairs[l].x];
    m = s->y_set->length[pairs[l].y];
    if (n != n_before || m != m_before) effort = strip_effort(s, n, m);
    alone += effort;
    if (n > n_max) n_max = n;
    if (m > m_max) m_max = m;
  }
  double together = (double)s->kernels->width * (double)(n_max + n_max % 2) * (double)(m_max + 1);
  return together <= alone && fits_pack(s, n_max, m_max);
}

/* Without overflow on the way, a far point costs what it should. */
static int can_chain(const sdtw_sweep *s) {
  int holds_far = far_cost / s->scale < SDTW_REAL_MAX / 16;
  return s->all_moderate && holds_far && s->window < 0 && !s->wants;
}

/* How many of these pairs can follow one another in a strip. */
static int chain_length(const sdtw_sweep *s, const sdtw_pair *pairs, int count) {
  ptrdiff_t columns = s->y_set->length[pairs[0].y];
  int length = 1;
  while (can_chain(s) && length < count && pairs[length].x == pairs[0].x) {
    columns += 1 + s->y_set->length[pairs[length].y];
    if (columns > chain_columns) break;
    length++;
  }
  return length;
}

int sdtw_sweep_load(sdtw_sweep *s, const sdtw_pair *pairs, size_t count) {
  int moderate = is_moderate_pair(s, pairs[0]), next = 1;
  use_kernels(s, moderate);
  int most = count < (size_t)s->kernels->width ? (int)count : s->kernels->width;
  while (next < most && is_moderate_pair(s, pairs[next]) == moderate) next++;
  if (!(s->wants & SDTW_WANT_ALIGNMENT) && suits_pack(s, pairs, next)) {
    load_pack(s, pairs, next);
    return next;
  }
  next = chain_length(s, pairs, next);
  load_strip(s, pairs, next);
  return next;
}

void sdtw_sweep_load_cost(sdtw_sweep *s, const double *cost, size_t n, size_t m) {
  use_kernels(s, is_moderate_matrix(s, cost, n, m));
  s->given = cost;
  s->used = 1;
  s->m[0] = (ptrdiff_t)m;
  place_strip(s, (ptrdiff_t)n, (ptrdiff_t)m);
}

/* ---- lines --------------------------------------------------------------------------------- */

static sdtw_view y_from(const sdtw_sweep *s, ptrdiff_t step) {
  ptrdiff_t lanes = s->kernels->lanes, width = s->kernels->width, column = (ptrdiff_t)s->d * width;
  if (s->strip) return (sdtw_view){s->y + lanes + s->m_max - step, -1, strip_y_dim(s), width};
  return (sdtw_view){s->y + step * column, column, width, -column};
}

static const sdtw_real *x_of(const sdtw_sweep *s, size_t line) {
  return s->x + line * s->d * (size_t)s->kernels->lanes;
}

/* The allowed columns of a row, counted from 1. A pair that has ended goes on with its last row. */
static sdtw_range range_of(const sdtw_sweep *s, int pair, ptrdiff_t row) {
  ptrdiff_t n = s->n[pair], m = s->window < 0 ? s->m_max : s->m[pair];
  return sdtw_window_range(row < n ? row : n, n, m, s->window);
}

/* Adds to a span the lane of a row that is `behind` rows behind the line's first. */
static void span_lane(sdtw_span *span, size_t lane, sdtw_range r, ptrdiff_t behind) {
  ptrdiff_t lo = r.lo + behind, hi = r.hi + behind;
  span->lo[lane] = (sdtw_real)lo;
  span->hi[lane] = (sdtw_real)hi;
  if (lo < span->first) span->first = lo;
  if (hi > span->last) span->last = hi;
  if (lo > span->inner_first) span->inner_first = lo;
  if (hi < span->inner_last) span->inner_last = hi;
}

/* The lane of a row before the first or after the last: no step at all. */
static void empty_lane(sdtw_span *span, size_t lane) {
  span->lo[lane] = SDTW_REAL_MAX;
  span->hi[lane] = 0;
  span->inner_last = 0;
}

/* The lanes of row r of a line. */
static void span_row(sdtw_sweep *s, size_t r) {
  sdtw_span *span = &s->span;
  size_t lane = r * s->stride;
  for (int pair = 0; pair < (int)s->stride; pair++, lane++) {
    ptrdiff_t row = span->row + (ptrdiff_t)r + 1 - skipped(s, pair);
    if (row < 1 || (s->strip && row > s->n_max)) {
      empty_lane(span, lane);
    } else {
      span_lane(span, lane, range_of(s, pair, row), (ptrdiff_t)r);
    }
  }
}

/* A strip without window and with moderate costs: what its lanes find beyond the last column leads
 * nowhere, nor do rows after the last. Before the first column a cell has no neighbours, so shares
 * need masks. */
static void whole_span(sdtw_sweep *s, size_t line) {
  sdtw_span *span = &s->span;
  ptrdiff_t rows = line + 1 < s->lines ? (ptrdiff_t)s->rows : s->n_max - span->row;
  for (size_t l = 0; l < s->rows; l++) {
    span->lo[l] = (sdtw_real)(l + 1);
    span->hi[l] = SDTW_REAL_MAX;
  }
  span->first = 1;
  span->last = span->inner_last = s->m_max + rows - 1;
  span->inner_first = s->wants ? (ptrdiff_t)s->rows : 1;
}

static int same_steps(sdtw_range a, sdtw_range b) { return a.lo == b.lo && a.hi == b.hi; }

/* Two rows of a pack of pairs that are alike. A window moves on from line to line, but mostly in
 * one piece: counted from where the line begins, the steps are those of the line before. */
static void alike_span(sdtw_sweep *s, ptrdiff_t row) {
  sdtw_span *span = &s->span;
  const ptrdiff_t n = s->n[0], m = s->m[0];
  const sdtw_range above = sdtw_window_range(row, n, m, s->window);
  const sdtw_range below = sdtw_window_range(row + 1, n, m, s->window);
  const ptrdiff_t origin = above.lo;
  const sdtw_range a = {0, above.hi - origin}, b = {below.lo + 1 - origin, below.hi + 1 - origin};
  span->first = span->origin = origin;
  span->inner_first = origin + b.lo;
  span->inner_last = origin + a.hi;
  span->last = origin + b.hi;
  if (same_steps(a, s->steps[0]) && same_steps(b, s->steps[1])) return;
  s->steps[0] = a;
  s->steps[1] = b;
  span->lo[0] = (sdtw_real)a.lo;
  span->lo[1] = (sdtw_real)b.lo;
  span->hi[0] = (sdtw_real)a.hi;
  span->hi[1] = (sdtw_real)b.hi;
  s->kernels->spread(span->lo, 2);
  s->kernels->spread(span->hi, 2);
}

static void work_out_span(sdtw_sweep *s, size_t line) {
  sdtw_span *span = &s->span;
  if (s->strip && s->window < 0 && s->moderate) {
    whole_span(s, line);
    return;
  }
  const ptrdiff_t row = span->row + 1 - skipped(s, 0);
  if (s->alike && !s->strip && row > 0) {
    alike_span(s, row);
    return;
  }
  forget_steps(s);
  span->first = span->inner_last = s->m_max + lag(s);
  span->last = span->inner_first = 0;
  for (size_t r = 0; r < s->rows; r++) span_row(s, r);
  if (line == 0) span->first = 1; /* where Z_00 enters, see start_line() */
  if (by_columns(s)) span->first -= (span->first - 1) % 4;
}

/* Without a window all lines have the same span but the first and a strip's last. */
static const sdtw_span *span_of(sdtw_sweep *s, size_t line) {
  int inner = s->window < 0 && line > 0 && (!s->strip || line + 1 < s->lines);
  s->span.row = (ptrdiff_t)(line * s->rows);
  if (!inner || !s->has_inner_span) work_out_span(s, line);
  s->has_inner_span = inner;
  return &s->span;
}

static void copy_given_costs(const sdtw_sweep *s, size_t line, ptrdiff_t from, ptrdiff_t to) {
  ptrdiff_t lanes = s->kernels->lanes, row0 = (ptrdiff_t)line * lanes;
  for (ptrdiff_t t = from; t < to; t++) {
    for (ptrdiff_t l = 0; l < lanes; l++) {
      ptrdiff_t row = row0 + l, column = t - l - 1;
      int inside = row < s->n_max && column >= 0 && column < s->m_max;
      double cost = inside ? s->scale * s->given[row + s->n_max * column] : 0;
      s->cost[(t - from) * lanes + l] = (sdtw_real)cost;
    }
  }
}

/* Chunks of a line come in order. The second half of the lanes meets a column so late that its last
 * costs lie beyond the end of one chunk and begin the next. */
static void cost_by_columns(sdtw_sweep *s, size_t line, ptrdiff_t from, ptrdiff_t to, int starts) {
  size_t lanes = (size_t)s->kernels->lanes;
  size_t beyond = (size_t)s->kernels->width * lanes * sizeof(sdtw_real);
  if (starts) {
    memset(s->delays, 0, SDTW_DELAY_STATE * lanes * sizeof(sdtw_real));
    memset(s->cost, 0, beyond);
  } else {
    memmove(s->cost, s->cost + (size_t)chunk_of(s) * lanes, beyond);
  }
  s->kernels->strip_cost(s->kind, (sdtw_real)s->scale, x_of(s, line),
                         s->points + (size_t)(from - 1) * s->d, s->d,
                         (size_t)whole_fours(to - from), s->delays, s->cost);
}

static void cost_of(sdtw_sweep *s, size_t line, ptrdiff_t from, ptrdiff_t to, int starts) {
  if (s->given) {
    copy_given_costs(s, line, from, to);
  } else if (by_columns(s)) {
    cost_by_columns(s, line, from, to, starts);
  } else {
    sdtw_view y = y_from(s, from);
    s->kernels->cost(s->kind, (sdtw_real)s->scale, x_of(s, line), &y, s->d, (size_t)(to - from),
                     s->cost);
  }
}

/* ---- forward ------------------------------------------------------------------------------- */

static sdtw_real *border_start(const sdtw_sweep *s, sdtw_real *part) {
  return part - front(s) * s->stride;
}

static sdtw_real one(const sdtw_sweep *s) { return s->hard ? 0 : 1; }

/* The border above the first line: Z_00 = 1 of each pair, all else out of reach. */
static void start_border(sdtw_sweep *s) {
  size_t count = s->columns * s->stride;
  s->kernels->fill(border_start(s, s->border.mantissa), count, s->hard ? INFINITY : 0);
  s->kernels->fill(border_start(s, s->border.exponent), count, SDTW_UNREACHABLE);
  for (int l = 0; l < (s->strip ? s->used : (int)s->stride); l++) {
    ptrdiff_t at = s->strip ? s->before[l] : l;
    s->border.mantissa[at] = one(s);
    s->border.exponent[at] = s->kernels->origin;
  }
}

/* The mantissa may have drifted: brought back first, it gives the same bits from any sweep. */
static double value_of(const sdtw_sweep *s, double mantissa, double exponent) {
  int drift;
  if (s->hard) return mantissa * s->hard_unit;
  mantissa = frexp(mantissa, &drift);
  return -(s->gamma * ln2) * (log2(mantissa) + (exponent - s->kernels->origin + drift));
}

/* Reads off the pairs of a pack that end with this line. */
static void read_pack(sdtw_sweep *s, size_t line) {
  if (line < s->first_end) return;
  for (int pair = 0; pair < s->used; pair++) {
    ptrdiff_t corner = s->m[pair] * (ptrdiff_t)s->stride + pair;
    if (line == s->last_line[pair])
      s->value[pair] = value_of(s, s->border.mantissa[corner], s->border.exponent[corner]);
  }
}

/* The step in which the last row of a strip comes to the end of a pair's columns. */
static ptrdiff_t end_of(const sdtw_sweep *s, int pair) {
  return s->before[pair] + s->m[pair] + (s->n_max - 1) % s->kernels->lanes;
}

/* Reads off the pair of a strip whose end its last row has just met. */
static void read_strip(sdtw_sweep *s) {
  size_t lanes = (size_t)s->kernels->lanes, row = (size_t)(s->n_max - 1) % lanes;
  s->value[s->read++] = value_of(s, s->state[row], s->state[lanes + row]);
}

/* Sweeps the steps from..to-1, whose costs are at hand. In the last line of a strip a stop is made
 * wherever a pair ends, to read its value off. */
static void sweep_steps(sdtw_sweep *s, size_t line, sdtw_real *shares, const sdtw_span *span,
                        ptrdiff_t from, ptrdiff_t to) {
  size_t lanes = (size_t)s->kernels->lanes;
  int ends = s->strip && line + 1 == s->lines;
  const sdtw_real *cost = s->cost;
  sdtw_forward *forward = s->kernels->forward[s->hard][s->strip][shares != NULL];
  for (ptrdiff_t at = from; at < to;) {
    int stops = ends && s->read < s->used && end_of(s, s->read) < to;
    ptrdiff_t next = stops ? end_of(s, s->read) + 1 : to;
    sdtw_real *kept = shares ? shares + (size_t)(at - 1) * SDTW_SHARES * lanes : NULL;
    forward(cost, s->border, s->state, kept, span, at, next);
    if (stops) read_strip(s);
    cost += (size_t)(next - at) * lanes;
    at = next;
  }
}

/* shares: NULL, or where those of step 1 of this line belong */
static void forward_line(sdtw_sweep *s, size_t line, sdtw_real *shares) {
  const sdtw_span *span = span_of(s, line);
  s->read = 0;
  const ptrdiff_t chunk = chunk_of(s);
  for (ptrdiff_t from = span->first; from <= span->last; from += chunk) {
    ptrdiff_t to = from + chunk <= span->last ? from + chunk : span->last + 1;
    cost_of(s, line, from, to, from == span->first);
    sweep_steps(s, line, shares, span, from, to);
  }
  if (!s->strip) read_pack(s, line);
}

static void save_border(const sdtw_sweep *s, sdtw_real *saved) {
  size_t half = s->border_size / 2;
  memcpy(saved, border_start(s, s->border.mantissa), half * sizeof(sdtw_real));
  memcpy(saved + half, border_start(s, s->border.exponent), half * sizeof(sdtw_real));
}

static void restore_border(const sdtw_sweep *s, const sdtw_real *saved) {
  size_t half = s->border_size / 2;
  memcpy(border_start(s, s->border.mantissa), saved, half * sizeof(sdtw_real));
  memcpy(border_start(s, s->border.exponent), saved + half, half * sizeof(sdtw_real));
}

/* How often to look at the stop flag: a strip's line is long, a pack's is not. */
static int time_to_look(const sdtw_sweep *s, size_t line) { return s->strip || line % 16 == 0; }

/* Sweeps the lines from..to-1 forward, keeping in `saved` the border above every block-th. */
static sdtw_status forward_lines(sdtw_sweep *s, size_t from, size_t to, sdtw_real *saved,
                                 size_t block, sdtw_crew *crew, int thread) {
  for (size_t line = from; line < to; line++) {
    if (time_to_look(s, line) && sdtw_crew_stopped(crew, thread)) return SDTW_STOPPED;
    if (saved && (line - from) % block == 0)
      save_border(s, saved + (line - from) / block * s->border_size);
    forward_line(s, line, NULL);
  }
  return SDTW_OK;
}

/* ---- backward ------------------------------------------------------------------------------ */

/* E = 1 in the last cell of each pair, given as if a line below owed it. */
static void seed_line(sdtw_sweep *s, size_t line) {
  ptrdiff_t lanes = s->kernels->lanes, below = (s->n_max - 1) % lanes + 1;
  memset(s->state, 0, (size_t)lanes * SDTW_BACKWARD_STATE * sizeof(sdtw_real));
  if (s->strip && line + 1 == s->lines && below < lanes) {
    s->state[lanes + below] = 1;
    return;
  }
  for (int pair = 0; pair < (int)s->stride; pair++) {
    if (line == s->last_line[pair]) s->debt.up[s->m[pair] * (ptrdiff_t)s->stride + pair] = 1;
  }
}

static sdtw_columns gy_columns(const sdtw_sweep *s) {
  ptrdiff_t stride = (ptrdiff_t)s->stride;
  ptrdiff_t step = s->strip ? 1 : (ptrdiff_t)s->d * stride;
  return (sdtw_columns){s->gy + (ptrdiff_t)front(s) * step, step,
                        s->strip ? (ptrdiff_t)s->columns : stride};
}

/* The sums of y's gradient that the rows of a line hold when it begins at its last step. */
static void start_travel(sdtw_sweep *s, ptrdiff_t last) {
  size_t lanes = (size_t)s->kernels->lanes;
  sdtw_columns gy = gy_columns(s);
  for (size_t k = 0; k < s->d; k++) {
    for (size_t r = 0; r < s->rows; r++) {
      const sdtw_real *column = gy.at + (last + 1 - (ptrdiff_t)r) * gy.step + (ptrdiff_t)k * gy.dim;
      memcpy(s->travel + k * lanes + r * s->stride, column, s->stride * sizeof(sdtw_real));
    }
  }
}

static void put_alignment(const sdtw_sweep *s, size_t line, ptrdiff_t from, ptrdiff_t to) {
  ptrdiff_t lanes = s->kernels->lanes, row0 = (ptrdiff_t)line * lanes;
  for (ptrdiff_t t = from; t < to; t++) {
    for (ptrdiff_t l = 0; l < lanes; l++) {
      ptrdiff_t row = row0 + l, column = t - l - 1;
      if (row < s->n_max && column >= 0 && column < s->m_max)
        s->alignment_out[row + s->n_max * column] = s->alignment[(t - from) * lanes + l];
    }
  }
}

static void use_alignment(sdtw_sweep *s, size_t line, ptrdiff_t from, ptrdiff_t to) {
  size_t lanes = (size_t)s->kernels->lanes, d = s->d;
  sdtw_view y = y_from(s, from);
  if (s->wants & SDTW_WANT_ALIGNMENT) put_alignment(s, line, from, to);
  if (s->wants & SDTW_WANT_MOMENTS)
    s->kernels->moments(s->alignment, x_of(s, line), &y, d, (size_t)(to - from),
                        s->mass + line * lanes, s->square + line * d * lanes);
  if (s->wants & (SDTW_WANT_X | SDTW_WANT_Y)) {
    sdtw_columns gy = gy_columns(s);
    s->kernels->gradient(s->kind, s->strip, s->alignment, x_of(s, line), &y, d, from, to,
                         s->gx + line * d * lanes, s->wants & SDTW_WANT_Y ? &gy : NULL, s->travel);
  }
}

static void backward_line(sdtw_sweep *s, size_t line, const sdtw_real *shares) {
  size_t lanes = (size_t)s->kernels->lanes;
  const sdtw_span *span = span_of(s, line);
  seed_line(s, line);
  if (s->wants & SDTW_WANT_Y) start_travel(s, span->last);
  const ptrdiff_t chunk = chunk_of(s);
  for (ptrdiff_t to = span->last + 1; to > span->first; to -= chunk) {
    ptrdiff_t from = to - chunk > span->first ? to - chunk : span->first;
    const sdtw_real *kept = shares + (size_t)(from - 1) * SDTW_SHARES * lanes;
    s->kernels->backward(s->strip, kept, s->debt, s->state, s->alignment, from, to);
    use_alignment(s, line, from, to);
  }
}

/* Sweeps the lines of a block forward from the border above it, keeping their shares. */
static void forward_block(sdtw_sweep *s, size_t from, size_t to) {
  for (size_t line = from; line < to; line++)
    forward_line(s, line, s->shares + (line - from) * line_shares(s));
}

static void backward_block(sdtw_sweep *s, size_t from, size_t to) {
  for (size_t line = to; line-- > from;)
    backward_line(s, line, s->shares + (line - from) * line_shares(s));
}

/* Forward through a superblock, keeping its inner borders, then back block by block. The last
 * block keeps its shares on the way down, so that it is swept forward only once. */
static sdtw_status sweep_superblock(sdtw_sweep *s, size_t from, size_t to, sdtw_crew *crew,
                                    int thread) {
  size_t block = (to - from - 1) / s->block, last = from + block * s->block;
  if (forward_lines(s, from, last, s->inner, s->block, crew, thread)) return SDTW_STOPPED;
  forward_block(s, last, to);
  backward_block(s, last, to);
  while (block-- > 0) {
    size_t first = from + block * s->block, end = first + s->block;
    if (sdtw_crew_stopped(crew, thread)) return SDTW_STOPPED;
    restore_border(s, s->inner + block * s->border_size);
    forward_block(s, first, end);
    backward_block(s, first, end);
  }
  return SDTW_OK;
}

static void clear_results(sdtw_sweep *s) {
  size_t lanes = (size_t)s->kernels->lanes, x_size = s->lines * s->d * lanes;
  size_t y_size = s->d * s->columns * s->stride;
  size_t debt_bytes = s->columns * s->stride * sizeof(sdtw_real);
  memset(border_start(s, s->debt.up), 0, debt_bytes);
  memset(border_start(s, s->debt.diagonal), 0, debt_bytes);
  memset(s->gx, 0, x_size * sizeof(sdtw_real));
  if (s->wants & SDTW_WANT_Y) memset(s->gy, 0, y_size * sizeof(sdtw_real));
  if (s->wants & SDTW_WANT_MOMENTS) {
    memset(s->mass, 0, s->lines * lanes * sizeof(sdtw_real));
    memset(s->square, 0, x_size * sizeof(sdtw_real));
  }
}

static sdtw_status forward_and_back(sdtw_sweep *s, sdtw_crew *crew, int thread) {
  size_t superblocks = (s->lines + s->superblock - 1) / s->superblock;
  size_t before_last = (superblocks - 1) * s->superblock;
  clear_results(s);
  if (forward_lines(s, 0, before_last, s->outer, s->superblock, crew, thread)) return SDTW_STOPPED;
  save_border(s, s->outer + (superblocks - 1) * s->border_size);
  for (size_t b = superblocks; b-- > 0;) {
    size_t from = b * s->superblock;
    size_t to = from + s->superblock < s->lines ? from + s->superblock : s->lines;
    restore_border(s, s->outer + b * s->border_size);
    if (sweep_superblock(s, from, to, crew, thread)) return SDTW_STOPPED;
  }
  return SDTW_OK;
}

/* ---- running ------------------------------------------------------------------------------- */

/* Numbers below the normal range become 0 while soft kernels run: they carry nothing and cost
 * twenty times as much. Hard DTW adds raw costs, which may be that small. */
#if defined(__x86_64__)
typedef unsigned float_mode;
static float_mode flush_to_zero(void) {
  float_mode before = _mm_getcsr();
  _mm_setcsr(before | 0x8000);
  return before;
}
static void restore_mode(float_mode before) { _mm_setcsr(before); }
#elif defined(__aarch64__)
typedef unsigned long float_mode;
static float_mode flush_to_zero(void) {
  float_mode before;
  __asm__ volatile("mrs %0, fpcr" : "=r"(before));
  __asm__ volatile("msr fpcr, %0" : : "r"(before | (1UL << 24)));
  return before;
}
static void restore_mode(float_mode before) { __asm__ volatile("msr fpcr, %0" : : "r"(before)); }
#else
typedef int float_mode;
static float_mode flush_to_zero(void) { return 0; }
static void restore_mode(float_mode before) { (void)before; }
#endif

static sdtw_status sweep(sdtw_sweep *s, sdtw_crew *crew, int thread) {
  start_border(s);
  if (s->wants) return forward_and_back(s, crew, thread);
  return forward_lines(s, 0, s->lines, NULL, 1, crew, thread);
}

sdtw_status sdtw_sweep_run(sdtw_sweep *s, sdtw_crew *crew, int thread) {
  if (s->hard) return sweep(s, crew, thread);
  float_mode before = flush_to_zero();
  sdtw_status status = sweep(s, crew, thread);
  restore_mode(before);
  return status;
}

/* ---- results ------------------------------------------------------------------------------- */

static void add_rows(const sdtw_sweep *s, int pair, const sdtw_real *from, size_t d, double weight,
                     double *out) {
  size_t n = (size_t)s->n[pair], lanes = (size_t)s->kernels->lanes;
  size_t r = (size_t)skipped(s, pair);
  from += pair;
  for (size_t t = 0; t < n; t++) {
    for (size_t k = 0; k < d; k++)
      out[k * n + t] += weight * (double)from[k * lanes + r * s->stride];
    if (++r < s->rows) continue;
    r = 0;
    from += d * lanes;
  }
}

void sdtw_sweep_add_x(const sdtw_sweep *s, int pair, double weight, double *out) {
  add_rows(s, pair, s->gx, s->d, weight * s->factor, out);
}

void sdtw_sweep_add_y(const sdtw_sweep *s, int pair, double weight, double *out) {
  size_t m = (size_t)s->m[pair];
  sdtw_columns gy = gy_columns(s);
  for (size_t k = 0; k < s->d; k++) {
    const sdtw_real *column = gy.at + (ptrdiff_t)k * gy.dim + pair;
    for (size_t t = 0; t < m; t++)
      out[k * m + t] += weight * s->factor * (double)column[(ptrdiff_t)(t + 1) * gy.step];
  }
}

void sdtw_sweep_add_moments(const sdtw_sweep *s, int pair, double weight, double *mass,
                            double *square) {
  add_rows(s, pair, s->mass, 1, weight, mass);
  add_rows(s, pair, s->square, s->d, weight * s->square_unit, square);
}
