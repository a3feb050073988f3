/* Three ways to compute x_t = a_t x_{t-1} + b_t, timed and held against a loop in long double.
 *
 * - the plain loop;
 * - two prefix sums in log space (Heinsen 2023): with A_t the running sum of log a_t,
 *   log x_t = A_t + log(x_0 + sum of exp(log b_k - A_k) up to t). The second sum is one of
 *   exponentials, kept relative to the largest so far. Both sums are taken in the same pass over
 *   memory, the best that one thread can do. For numbers with signs all of this in complex numbers;
 * - the package's associative scan of blocks.
 *
 * The coefficients are made here, so that 10^8 steps need no copies. The interface is R's .C().
 */
#define _POSIX_C_SOURCE 200809L
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/recurrence.h"

enum { LOOP, PREFIX_SUMS, COMPLEX_PREFIX_SUMS, SCAN };
enum { POSITIVE, SIGNED, WITH_ZEROS };

typedef struct {
  double *a, *b, *x;
  size_t steps, sequences;
} data;

static double fraction(size_t t, size_t factor, size_t modulus) {
  return (double)((t + 1) * factor % modulus) / 1048576.0;
}

static void fill(data *d, int kind) {
  for (size_t t = 0; t < d->steps * d->sequences; t++) {
    double u = fraction(t, 40503, 1048573), v = fraction(t, 30011, 1048571);
    d->a[t] = kind == POSITIVE ? 1 - u / 64 : 2 * u - 1;
    d->b[t] = kind == POSITIVE ? v + 0.1 : v - 0.5;
    if (kind == WITH_ZEROS && t % 1000 == 999) d->a[t] = 0;
  }
}

static void loop(const double *a, const double *b, double *out, size_t n) {
  double x = 1;
  for (size_t t = 0; t < n; t++) out[t] = x = a[t] * x + b[t];
}

/* sum * exp(largest) is what the exponentials add up to. */
static void prefix_sums(const double *a, const double *b, double *out, size_t n) {
  double log_a = 0, largest = 0, sum = 1;
  for (size_t t = 0; t < n; t++) {
    log_a += log(a[t]);
    double term = log(b[t]) - log_a;
    if (term > largest) {
      sum = sum * exp(largest - term) + 1;
      largest = term;
    } else {
      sum += exp(term - largest);
    }
    out[t] = exp(log_a + largest + log(sum));
  }
}

static void complex_prefix_sums(const double *a, const double *b, double *out, size_t n) {
  double complex log_a = 0, sum = 1;
  double largest = 0;
  for (size_t t = 0; t < n; t++) {
    log_a += clog(a[t]);
    double complex term = clog(b[t]) - log_a;
    if (creal(term) > largest) {
      sum *= exp(largest - creal(term));
      largest = creal(term);
    }
    sum += cexp(term - largest);
    out[t] = creal(cexp(log_a + largest + clog(sum)));
  }
}

static void scan(const data *d, int threads) {
  const double one = 1;
  sdtw_strides by = {1, 0, (ptrdiff_t)d->steps};
  sdtw_recurrence job = {.steps = d->steps,
                         .inner = 1,
                         .outer = d->sequences,
                         .a = {d->a, NULL, by},
                         .b = {d->b, NULL, by},
                         .x0 = {&one, NULL, {0, 0, 0}},
                         .out = {d->x, NULL, by},
                         .threads = threads};
  void *scratch = malloc(sdtw_recurrence_plan(&job) + 1);
  sdtw_recurrence_run(&job, scratch, NULL);
  free(scratch);
}

static void run(const data *d, int way, int threads) {
  static void (*const ways[])(const double *, const double *, double *, size_t) = {
      loop, prefix_sums, complex_prefix_sums};
  if (way == SCAN) {
    scan(d, threads);
    return;
  }
  for (size_t s = 0; s < d->sequences; s++) {
    size_t at = s * d->steps;
    ways[way](d->a + at, d->b + at, d->x + at, d->steps);
  }
}

/* The largest error, relative to the largest |x| of the sequence so far. */
static double error_of(const data *d) {
  long double worst = 0;
  for (size_t s = 0; s < d->sequences; s++) {
    long double x = 1, size = 1;
    for (size_t t = s * d->steps; t < (s + 1) * d->steps; t++) {
      x = (long double)d->a[t] * x + d->b[t];
      if (fabsl(x) > size) size = fabsl(x);
      long double error = fabsl(d->x[t] - x) / size;
      if (!(error <= worst)) worst = error;
      if (isnan(worst)) return NAN;
    }
  }
  return (double)worst;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* seconds[r] of each repeat, after one that is not counted; the error where `error` is not 0 */
void bench_formulation(const int *way, const double *steps, const double *sequences,
                       const int *kind, const int *threads, const int *repeats, double *seconds,
                       double *error) {
  data d = {.steps = (size_t)*steps, .sequences = (size_t)*sequences};
  size_t bytes = d.steps * d.sequences * sizeof(double);
  d.a = malloc(bytes);
  d.b = malloc(bytes);
  d.x = malloc(bytes);
  fill(&d, *kind);
  run(&d, *way, *threads);
  for (int r = 0; r < *repeats; r++) {
    double start = now();
    run(&d, *way, *threads);
    seconds[r] = now() - start;
  }
  if (*error != 0) *error = error_of(&d);
  free(d.a);
  free(d.b);
  free(d.x);
}
