/* Exercises the core without R, for the sanitizers: every job, every instruction set, shapes around
 * the lane and chunk borders, against a plain log-sum-exp reference. Prints a line for each fault
 * and `N passed, N failed`; exits non-zero on a fault.
 *
 *   cc -std=gnu11 -Isrc/core tests/c/core-check.c src/core/[a-z]*.c -lm -lpthread [-fopenmp]
 * [-fsanitize=...]
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softdtw.h"
#include "window.h"

static int passed = 0, failed = 0;
static double tolerance = 1e-11;

static void expect(int ok, const char *what, const char *isa, double a, double b) {
  if (ok) {
    passed++;
    return;
  }
  failed++;
  printf("%s (%s): %.17g, expected %.17g\n", what, isa, a, b);
}

static int near(double a, double b, double tolerance) {
  return fabs(a - b) <= tolerance * fmax(1.0, fabs(b));
}

static uint64_t random_state = 42;
static double uniform(void) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (double)(random_state >> 11) / 9007199254740992.0;
}

/* ---- reference ----------------------------------------------------------------------------- */

static double ground(int cost, const double *x, const double *y, size_t d) {
  double sum = 0;
  for (size_t k = 0; k < d; k++) {
    double z = x[k] - y[k];
    sum += cost == SDTW_MANHATTAN ? fabs(z) : z * z;
  }
  return cost == SDTW_EUCLIDEAN ? sqrt(sum) : sum;
}

static double soft_min(double a, double b, double c, double gamma) {
  double least = fmin(a, fmin(b, c));
  if (isinf(least) || gamma == 0) return least;
  return least - gamma * log(exp((least - a) / gamma) + exp((least - b) / gamma) +
                             exp((least - c) / gamma));
}

static double reference(const double *x, size_t n, const double *y, size_t m, size_t d,
                        const sdtw_options *o) {
  double *row = malloc((m + 1) * sizeof(double));
  for (size_t j = 0; j <= m; j++) row[j] = j ? INFINITY : 0;
  for (size_t i = 0; i < n; i++) {
    sdtw_range r = sdtw_window_range((ptrdiff_t)i + 1, (ptrdiff_t)n, (ptrdiff_t)m, o->window);
    double diagonal = row[0];
    row[0] = INFINITY;
    for (ptrdiff_t j = 1; j <= (ptrdiff_t)m; j++) {
      double up = row[j];
      row[j] = j < r.lo || j > r.hi ? INFINITY
                                    : ground((int)o->cost, x + i * d, y + (size_t)(j - 1) * d, d) +
                                          soft_min(up, row[j - 1], diagonal, o->gamma);
      diagonal = up;
    }
  }
  double value = row[m];
  free(row);
  return value;
}

/* ---- series -------------------------------------------------------------------------------- */

static sdtw_set make_set(size_t count, int shortest, int longest, size_t d) {
  int *length = malloc(count * sizeof(int));
  size_t *start = malloc(count * sizeof(size_t)), at = 0;
  sdtw_set set = {.count = count, .d = d};
  for (size_t i = 0; i < count; i++) {
    length[i] = shortest + (int)(uniform() * (longest - shortest + 1));
    start[i] = at;
    at += (size_t)length[i] * d;
    if (length[i] > set.longest) set.longest = length[i];
  }
  double *values = malloc(at * sizeof(double));
  for (size_t i = 0; i < at; i++) values[i] = 4 * uniform() - 2;
  set.values = values;
  set.start = start;
  set.length = length;
  return set;
}

static void free_set(sdtw_set *set) {
  free((void *)set->values);
  free((void *)set->start);
  free((void *)set->length);
}

static double expected(const sdtw_job *job, size_t i, size_t j) {
  const sdtw_set *x = job->x, *y = job->y;
  return reference(x->values + x->start[i], (size_t)x->length[i], y->values + y->start[j],
                   (size_t)y->length[j], x->d, &job->options);
}

static sdtw_status run(const sdtw_job *job, const sdtw_monitor *monitor) {
  void *scratch = malloc(sdtw_plan(job));
  sdtw_status status = sdtw_run(job, scratch, monitor);
  free(scratch);
  return status;
}

/* ---- checks -------------------------------------------------------------------------------- */

static void check_matrix(sdtw_job job) {
  size_t n = job.x->count, m = job.y->count;
  job.kind = SDTW_MATRIX;
  job.value = malloc(n * m * sizeof(double));
  run(&job, NULL);
  for (size_t t = 0; t < n * m; t += 29) {
    double want = expected(&job, t % n, t / n);
    expect(near(job.value[t], want, tolerance), "matrix", sdtw_isa_name(job.options.isa),
           job.value[t], want);
  }
  free(job.value);
}

static void check_dist_and_knn(sdtw_job job) {
  size_t n = job.x->count, k = n < 4 ? n - 1 : 3;
  if (n < 2) return;
  job.y = job.x;
  job.kind = SDTW_DIST;
  job.value = malloc(n * (n - 1) / 2 * sizeof(double));
  run(&job, NULL);
  double want = expected(&job, 1, 0);
  expect(near(job.value[0], want, tolerance), "dist", sdtw_isa_name(job.options.isa), job.value[0],
         want);
  job.kind = SDTW_KNN;
  job.k = (int)k;
  job.index = malloc(n * k * sizeof(int));
  job.distance = malloc(n * k * sizeof(double));
  run(&job, NULL);
  double nearest = INFINITY;
  for (size_t j = 1; j < n; j++) nearest = fmin(nearest, job.value[j - 1]);
  expect(job.distance[0] == nearest, "knn", sdtw_isa_name(job.options.isa), job.distance[0],
         nearest);
  free(job.value);
  free(job.index);
  free(job.distance);
}

/* One finite difference per pair, and the sum of E's corners. */
static void check_gradients(sdtw_job job) {
  sdtw_set one = *job.x;
  one.count = 1;
  one.longest = one.length[0];
  job.x = &one;
  job.kind = SDTW_REDUCE;
  size_t size = (size_t)one.length[0] * one.d, count = job.y->count;
  double *weights = malloc(count * sizeof(double));
  for (size_t i = 0; i < count; i++) weights[i] = 1;
  job.weights = weights;
  job.value = malloc(count * sizeof(double));
  job.sum_x = malloc(size * sizeof(double));
  job.mass = malloc((size_t)one.length[0] * sizeof(double));
  job.square = malloc(size * sizeof(double));
  run(&job, NULL);
  double *values = (double *)one.values + one.start[0], h = 1e-5, sums[2] = {0, 0};
  for (int side = 0; side < 2; side++) {
    double kept = values[0];
    values[0] += side ? -h : h;
    for (size_t j = 0; j < count; j++) sums[side] += expected(&job, 0, j);
    values[0] = kept;
  }
  double want = (sums[0] - sums[1]) / (2 * h);
  if (job.options.gamma > 0.01)
    expect(near(job.sum_x[0], want, job.options.single ? 1e-2 : 1e-4), "gradient",
           sdtw_isa_name(job.options.isa), job.sum_x[0], want);
  free(weights);
  free(job.value);
  free(job.sum_x);
  free(job.mass);
  free(job.square);
}

static void check_alignment(sdtw_job job) {
  size_t n = (size_t)job.x->length[0], m = (size_t)job.y->length[0];
  double value, want;
  job.kind = SDTW_ALIGNMENT;
  job.value = &value;
  job.alignment = calloc(n * m, sizeof(double));
  run(&job, NULL);
  want = expected(&job, 0, 0);
  expect(near(value, want, tolerance), "alignment", sdtw_isa_name(job.options.isa), value, want);
  expect(near(job.alignment[0], 1, job.options.single ? 1e-4 : 1e-9), "first corner",
         sdtw_isa_name(job.options.isa), job.alignment[0], 1);
  expect(job.alignment[n * m - 1] == 1, "last corner", sdtw_isa_name(job.options.isa),
         job.alignment[n * m - 1], 1);
  free(job.alignment);
}

static int stop_at_once(void *data, double done) {
  (void)data;
  (void)done;
  return 1;
}

static void check_stopping(sdtw_job job) {
  sdtw_set long_pair = make_set(1, 9000, 9000, 1);
  sdtw_monitor monitor = {stop_at_once, NULL};
  double value = 0;
  job.kind = SDTW_PAIRS;
  job.x = job.y = &long_pair;
  job.value = &value;
  sdtw_status status = run(&job, &monitor);
  expect(status == SDTW_STOPPED, "stopping", sdtw_isa_name(job.options.isa), status, SDTW_STOPPED);
  free_set(&long_pair);
}

static void check_shape(sdtw_isa isa, int single, size_t count, int shortest, int longest,
                        size_t d) {
  static const double gammas[] = {0, 1e-3, 1, 100};
  static const ptrdiff_t windows[] = {-1, 1, 9};
  sdtw_set x = make_set(count, shortest, longest, d), y = make_set(count + 3, shortest, longest, d);
  for (int g = 0; g < 4; g++) {
    for (int w = 0; w < 3; w++) {
      for (int cost = 0; cost < 3; cost++) {
        sdtw_job job = {.x = &x, .y = &y};
        job.options = (sdtw_options){.gamma = gammas[g],
                                     .cost = (sdtw_ground_cost)cost,
                                     .window = windows[w],
                                     .single = single,
                                     .threads = 2,
                                     .isa = isa};
        tolerance = single ? 2e-5 : 1e-11;
        check_matrix(job);
        check_dist_and_knn(job);
        check_gradients(job);
        check_alignment(job);
      }
    }
  }
  free_set(&x);
  free_set(&y);
}

int main(void) {
  sdtw_isa found[3];
  int n = sdtw_isa_usable(found);
  for (int i = 0; i < n; i++) {
    for (int single = 0; single < 2; single++) {
      check_shape(found[i], single, 1, 1, 1, 1);
      check_shape(found[i], single, 37, 1, 20, 2);
      check_shape(found[i], single, 3, 127, 133, 1);
      check_shape(found[i], single, 2, 255, 300, 3);
      check_shape(found[i], single, 18, 15, 18, 6);
      check_shape(found[i], single, 33, 20, 90, 40);
    }
    sdtw_job job = {.options = {.gamma = 1, .window = -1, .threads = 2, .isa = found[i]}};
    check_stopping(job);
  }
  printf("%d passed, %d failed\n", passed, failed);
  return failed > 0;
}
