/* Soft-DTW with each row computed by a scan (algorithm "scan"), beside the package's own engines.
 *
 * In the linear domain a row of soft-DTW is a linear recurrence along the row:
 *
 *     Z_ij = K_ij Z_{i,j-1} + K_ij (Z_{i-1,j} + Z_{i-1,j-1}),   K_ij = 2^-cost_ij.
 *
 * The columns are cut into blocks, and each lane takes a block of the same row, with the package's
 * own arithmetic for a cell. As in src/core/recurrence.c a row takes three steps:
 *   1. every block from an unreachable left neighbour: its own sum B. The product A of its
 *      coefficients is 2^-(sum of its costs);
 *   2. the cells before the blocks, one after the other, from A and B;
 *   3. every block again, from its true left neighbour.
 * So a cell is computed twice. With several threads each has its own stretch of blocks, and all
 * wait for each other twice a row.
 *
 * It is here to be raced (bench/recurrence.R) and lost on the CPU; the package does not contain it.
 * The interface is that of R's .C(): numbers by pointer, series of equal length one after the
 * other.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "core/scaled.h"
#include "core/sweep.h"
#include "race-isa.h" /* written by race.R: the vectors of this processor's instruction set */
#define SDTW_TABLE race_kernels
#include "core/kernels-template.h"

static const double ln2 = 0.693147180559945309417232121458;

/* One thread's stretch of the columns: `width` steps of each lane, numbered from 1. */
typedef struct {
  size_t width;
  double *y, *costs, *x;
  sdtw_border border; /* of each lane's columns */
  /* the cells left of the lanes' blocks, then their last ones; and the cells above the former */
  double left_mantissa[LANES], left_exponent[LANES];
  double diagonal_mantissa[LANES], diagonal_exponent[LANES];
} stretch;

/* What a block makes of the cell before it: a * cell + b. */
typedef struct {
  sdtw_scaled a, b;
} block;

static double *doubles(size_t count) { return aligned_alloc(64, (count * 8 + 63) / 64 * 64); }

static void make_stretch(stretch *s, const double *y, size_t m, size_t first, size_t width) {
  size_t size = (width + 1) * LANES;
  *s = (stretch){.width = width,
                 .y = doubles(size),
                 .costs = doubles(size),
                 .x = doubles(LANES),
                 .border = {doubles(size), doubles(size)}};
  for (size_t l = 0; l < LANES; l++) {
    for (size_t t = 0; t < width; t++) {
      size_t j = first + l * width + t;
      s->y[t * LANES + l] = y[j < m ? j : m - 1];
    }
  }
  for (size_t i = 0; i < size; i++) {
    s->border.mantissa[i] = 0;
    s->border.exponent[i] = SDTW_UNREACHABLE;
  }
}

static void free_stretch(stretch *s) {
  double *all[] = {s->y, s->costs, s->x, s->border.mantissa, s->border.exponent};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static sdtw_scaled cell_of(double mantissa, double exponent) {
  return mantissa == 0 ? sdtw_scaled_zero
                       : sdtw_scaled_normal(mantissa, (int64_t)(exponent - ORIGIN));
}

static void put_cell(double *mantissa, double *exponent, sdtw_scaled z) {
  *mantissa = z.mantissa;
  *exponent = z.mantissa == 0 ? SDTW_UNREACHABLE : (double)z.exponent + ORIGIN;
}

/* The cell that ends lane l of the line above. */
static sdtw_scaled last_above(const stretch *s, size_t l) {
  size_t at = s->width * LANES + l;
  return cell_of(s->border.mantissa[at], s->border.exponent[at]);
}

/* Sets the lanes' diagonal neighbours: `before` for the first, else the end of the lane before. */
static void set_diagonals(stretch *s, sdtw_scaled before) {
  for (size_t l = 0; l < LANES; l++)
    put_cell(s->diagonal_mantissa + l, s->diagonal_exponent + l, l ? last_above(s, l - 1) : before);
}

V_INLINE void steps(int trim, int storing, const stretch *s, scaled_pair *left,
                    scaled_pair *diagonal, size_t from, size_t to) {
  for (size_t t = from; t < to; t++) {
    double *mantissa = s->border.mantissa + t * LANES, *exponent = s->border.exponent + t * LANES;
    scaled_pair up = {pair_load(mantissa), pair_load(exponent)};
    pair_mask all = due_lanes(0, pair_set(0));
    *left = cell(0, trim, 0, all, up, *left, *diagonal, pair_load(s->costs + (t - 1) * LANES),
                 NULL);
    if (storing) {
      pair_store(mantissa, left->mantissa);
      pair_store(exponent, left->exponent);
    }
    *diagonal = up;
  }
}

/* The lanes' blocks of a row. Mantissas are trimmed as in the package's kernels: two steps of every
 * 64, shifted from row to row. */
V_INLINE void run_blocks(int storing, stretch *s, size_t row) {
  scaled_pair left = {pair_load(s->left_mantissa), pair_load(s->left_exponent)};
  scaled_pair diagonal = {pair_load(s->diagonal_mantissa), pair_load(s->diagonal_exponent)};
  size_t end = s->width + 1;
  for (size_t from = 1; from < end;) {
    size_t phase = (from + row) % 64, to = from + (phase < 2 ? 2 : 64) - phase;
    if (to > end) to = end;
    if (phase < 2)
      steps(1, storing, s, &left, &diagonal, from, to);
    else
      steps(0, storing, s, &left, &diagonal, from, to);
    from = to;
  }
  pair_store(s->left_mantissa, left.mantissa);
  pair_store(s->left_exponent, left.exponent);
}

V_TARGET static void run_and_forget(stretch *s, size_t row) { run_blocks(0, s, row); }
V_TARGET static void run_and_store(stretch *s, size_t row) { run_blocks(1, s, row); }

/* Step 1. The diagonals are set. */
static void summarise_row(stretch *s, size_t row, block *blocks) {
  double sum[LANES] = {0};
  for (size_t l = 0; l < LANES; l++)
    put_cell(s->left_mantissa + l, s->left_exponent + l, sdtw_scaled_zero);
  run_and_forget(s, row);
  for (size_t t = 0; t < s->width; t++) {
    for (size_t l = 0; l < LANES; l++) sum[l] += s->costs[t * LANES + l];
  }
  for (size_t l = 0; l < LANES; l++) {
    double whole = nearbyint(sum[l]);
    blocks[l].a = sdtw_scaled_normal(exp2(whole - sum[l]), -(int64_t)whole);
    blocks[l].b = cell_of(s->left_mantissa[l], s->left_exponent[l]);
  }
}

/* Steps 2 and 3 of the stretch whose first block is number `first` of all. */
static void finish_row(stretch *s, size_t row, const block *blocks, size_t first) {
  sdtw_scaled z = sdtw_scaled_zero;
  for (size_t b = 0; b < first + LANES; b++) {
    if (b >= first) put_cell(s->left_mantissa + (b - first), s->left_exponent + (b - first), z);
    z = sdtw_scaled_sum(sdtw_scaled_product(blocks[b].a, z), blocks[b].b);
  }
  run_and_store(s, row);
}

static void cost_row(stretch *s, double scale, double x) {
  sdtw_view y = {s->y, LANES, LANES, V_WIDTH};
  for (size_t l = 0; l < LANES; l++) s->x[l] = x;
  race_kernels.cost(SDTW_SQEUCLIDEAN, scale, s->x, &y, 1, s->width, s->costs);
}

static void flush_to_zero(void) {
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8000);
#endif
}

static double scan_pair(const double *x, size_t n, const double *y, size_t m, double gamma,
                        int threads) {
  size_t blocks = LANES * (size_t)threads;
  size_t width = (m + blocks - 1) / blocks;
  stretch *all = malloc((size_t)threads * sizeof *all);
  block *found = malloc(blocks * sizeof *found);
  for (int k = 0; k < threads; k++) make_stretch(all + k, y, m, (size_t)k * LANES * width, width);
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    int k = 0;
#ifdef _OPENMP
    if (threads > 1) k = omp_get_thread_num();
#endif
    stretch *s = all + k;
    size_t first = (size_t)k * LANES;
    flush_to_zero();
    for (size_t i = 0; i < n; i++) {
      cost_row(s, 1 / (gamma * ln2), x[i]);
      set_diagonals(s, k > 0    ? last_above(s - 1, LANES - 1)
                       : i == 0 ? sdtw_scaled_one
                                : sdtw_scaled_zero);
      summarise_row(s, i, found + first);
#pragma omp barrier
      finish_row(s, i, found, first);
#pragma omp barrier
    }
  }
  size_t end = (m - 1) / width, at = ((m - 1) % width + 1) * LANES + end % LANES;
  const stretch *last = all + end / LANES;
  double log2_z = log2(last->border.mantissa[at]) + (last->border.exponent[at] - ORIGIN);
  for (int k = 0; k < threads; k++) free_stretch(all + k);
  free(found);
  free(all);
  return -gamma * ln2 * log2_z;
}

/* ---- the package's engines ----------------------------------------------------------------- */

static void set_of(sdtw_set *set, const double *values, int length, size_t count) {
  size_t *start = malloc(count * sizeof *start);
  int *lengths = malloc(count * sizeof *lengths);
  for (size_t i = 0; i < count; i++) {
    start[i] = i * (size_t)length;
    lengths[i] = length;
  }
  *set = (sdtw_set){values, start, lengths, count, 1, length};
}

static void free_set(sdtw_set *set) {
  free((void *)set->start);
  free((void *)set->length);
}

typedef struct {
  sdtw_sweep sweep;
  const int *alone;
  size_t count;
  double *value;
  int *strip;
} package_run;

/* All pairs, by packs where the package takes them; `alone` gives it one at a time: strips. */
static void run_package(void *context, size_t task, int thread, sdtw_crew *crew) {
  package_run *run = context;
  (void)task;
  for (size_t done = 0; done < run->count;) {
    sdtw_pair pairs[SDTW_MAX_LANES];
    size_t ready = 0;
    for (; ready < SDTW_MAX_LANES && done + ready < run->count; ready++)
      pairs[ready] = (sdtw_pair){done + ready, done + ready};
    int taken = sdtw_sweep_load(&run->sweep, pairs, *run->alone ? 1 : ready);
    if (sdtw_sweep_run(&run->sweep, crew, thread)) return;
    for (int l = 0; l < taken; l++) run->value[done + (size_t)l] = run->sweep.value[l];
    done += (size_t)taken;
  }
  *run->strip = run->sweep.strip;
}

static sdtw_isa best_isa(void) {
  sdtw_isa found[3];
  return found[sdtw_isa_usable(found) - 1];
}

static sdtw_job job_of(const sdtw_set *x, const sdtw_set *y, double gamma) {
  sdtw_job job = {.kind = SDTW_PAIRS, .x = x, .y = y};
  job.options = (sdtw_options){.gamma = gamma, .window = -1, .threads = 1, .isa = best_isa()};
  return job;
}

static const double no_centre = 0;

void bench_scan(const double *x, const int *n, const double *y, const int *m, const int *count,
                const double *gamma, const int *threads, double *value) {
  for (int p = 0; p < *count; p++)
    value[p] = scan_pair(x + (size_t)p * (size_t)*n, (size_t)*n, y + (size_t)p * (size_t)*m,
                         (size_t)*m, *gamma, *threads);
}

void bench_package(const double *x, const int *n, const double *y, const int *m, const int *count,
                   const double *gamma, const int *alone, double *value, int *strip) {
  sdtw_set sets[2];
  set_of(sets, x, *n, (size_t)*count);
  set_of(sets + 1, y, *m, (size_t)*count);
  sdtw_job job = job_of(sets, sets + 1, *gamma);
  void *scratch = aligned_alloc(64, sdtw_sweep_bytes(&job, 0) + 64);
  package_run run = {.alone = alone, .count = (size_t)*count, .value = value, .strip = strip};
  sdtw_sweep_init(&run.sweep, &job, 0, &no_centre, scratch);
  sdtw_crew_run(NULL, 1, 1, run_package, &run);
  free(scratch);
  free_set(sets);
  free_set(sets + 1);
}
