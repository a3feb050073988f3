/* Exercises the recurrence core without R, for the sanitizers: every way it takes, lengths around
 * the borders of turns, blocks and groups, both directions, threads, logarithms, gradients, against
 * a loop in long double. Prints a line for each fault and `N passed, N failed`; exits non-zero on a
 * fault.
 *
 *   cc -std=gnu11 -Isrc/core tests/c/recurrence-check.c src/core/[a-z]*.c -lm -lpthread
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recurrence.h"

static int passed = 0, failed = 0;

static void expect(double off, double bound, const char *what, size_t steps, size_t inner,
                   size_t outer) {
  if (off <= bound) {
    passed++;
    return;
  }
  failed++;
  printf("%s: off by %.3g, %zu steps, %zu x %zu sequences\n", what, off, steps, inner, outer);
}

static uint64_t random_state = 42;
static double uniform(void) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (double)(random_state >> 11) / 9007199254740992.0;
}

typedef struct {
  size_t steps, inner, outer, count;
  double *a, *b, *x0, *x;
  long double *want;
} problem;

static sdtw_strides strides(const problem *p, int reverse) {
  ptrdiff_t inner = (ptrdiff_t)p->inner, steps = (ptrdiff_t)p->steps;
  return (sdtw_strides){reverse ? -inner : inner, 1, inner * steps};
}

static problem make(size_t steps, size_t inner, size_t outer) {
  problem p = {.steps = steps, .inner = inner, .outer = outer, .count = steps * inner * outer};
  p.a = malloc(p.count * sizeof(double));
  p.b = malloc(p.count * sizeof(double));
  p.x = malloc(p.count * sizeof(double));
  p.x0 = malloc(inner * outer * sizeof(double));
  p.want = malloc(p.count * sizeof(long double));
  for (size_t k = 0; k < p.count; k++) {
    p.a[k] = k % 997 == 500 ? 0 : 2 * uniform() - 1;
    p.b[k] = uniform() - 0.5;
  }
  for (size_t s = 0; s < inner * outer; s++) p.x0[s] = uniform() - 0.5;
  return p;
}

static void clear(problem *p) {
  free(p->a);
  free(p->b);
  free(p->x);
  free(p->x0);
  free(p->want);
}

static void solve(problem *p, int reverse) {
  for (size_t s = 0; s < p->inner * p->outer; s++) {
    size_t first = s % p->inner + s / p->inner * p->inner * p->steps;
    long double x = p->x0[s];
    for (size_t t = 0; t < p->steps; t++) {
      size_t at = first + (reverse ? p->steps - 1 - t : t) * p->inner;
      p->want[at] = x = p->a[at] * x + p->b[at];
    }
  }
}

static sdtw_recurrence job_of(problem *p, int reverse, int threads) {
  size_t first = reverse ? (p->steps - 1) * p->inner : 0;
  sdtw_strides by = strides(p, reverse);
  return (sdtw_recurrence){.steps = p->steps,
                           .inner = p->inner,
                           .outer = p->outer,
                           .a = {p->a + first, NULL, by},
                           .b = {p->b + first, NULL, by},
                           .x0 = {p->x0, NULL, {0, 1, (ptrdiff_t)p->inner}},
                           .out = {p->x + first, NULL, by},
                           .threads = threads};
}

static void run(const sdtw_recurrence *job) {
  void *scratch = malloc(sdtw_recurrence_plan(job) + 1);
  sdtw_recurrence_run(job, scratch, NULL);
  free(scratch);
}

static void check_plain(problem *p, int reverse, int threads, int single) {
  sdtw_recurrence job = job_of(p, reverse, threads);
  double off = 0;
  job.single = single;
  run(&job);
  for (size_t k = 0; k < p->count; k++)
    off = fmax(off, (double)fabsl((long double)p->x[k] - p->want[k]));
  expect(off, single ? 2e-6 : 4e-15, single ? "single" : "plain", p->steps, p->inner, p->outer);
}

static double *map(const double *from, size_t count, int sign) {
  double *to = malloc(count * sizeof(double));
  for (size_t k = 0; k < count; k++)
    to[k] = !sign ? log(fabs(from[k])) : from[k] > 0 ? 1 : from[k] < 0 ? -1 : 0;
  return to;
}

static void check_logs(problem *p, int reverse, int threads, int single) {
  sdtw_recurrence job = job_of(p, reverse, threads);
  size_t first = reverse ? (p->steps - 1) * p->inner : 0, sequences = p->inner * p->outer;
  double *made[7] = {map(p->a, p->count, 0),           map(p->a, p->count, 1),
                     map(p->b, p->count, 0),           map(p->b, p->count, 1),
                     map(p->x0, sequences, 0),         map(p->x0, sequences, 1),
                     malloc(p->count * sizeof(double))};
  double off = 0;
  job.logs = 1;
  job.single = single;
  job.a.value = made[0] + first;
  job.a.sign = made[1] + first;
  job.b.value = made[2] + first;
  job.b.sign = made[3] + first;
  job.x0.value = made[4];
  job.x0.sign = made[5];
  job.out.sign = made[6] + first;
  run(&job);
  for (size_t k = 0; k < p->count; k++)
    off = fmax(off, (double)fabsl(made[6][k] * expl(p->x[k]) - p->want[k]));
  expect(off, single ? 1e-5 : 1e-13, single ? "single logs" : "logs", p->steps, p->inner, p->outer);
  for (int k = 0; k < 7; k++) free(made[k]);
}

/* With all derivatives 1, moving b of one step by h moves the sum by h times its gradient. */
static void check_back(problem *p, int reverse, int threads) {
  sdtw_recurrence job = job_of(p, reverse, threads);
  size_t first = reverse ? (p->steps - 1) * p->inner : 0, sequences = p->inner * p->outer;
  double one = 1, off = 0;
  double *ga = calloc(p->count, sizeof(double)), *gb = calloc(p->count, sizeof(double));
  double *g0 = calloc(sequences, sizeof(double));
  sdtw_recurrence_back back = {.job = &job,
                               .engine = &sdtw_cpu_recurrence_engine,
                               .grad = {&one, NULL, {0, 0, 0}},
                               .grad_a = {ga + first, NULL, job.a.by},
                               .grad_b = {gb + first, NULL, job.b.by},
                               .grad_x0 = {g0, NULL, job.x0.by}};
  run(&job);
  void *scratch = malloc(sdtw_recurrence_back_plan(&back));
  sdtw_recurrence_back_run(&back, scratch, NULL, NULL);
  free(scratch);
  for (size_t s = 0; s < sequences; s++) {
    size_t at = s % p->inner + s / p->inner * p->inner * p->steps;
    long double l = 0, a = 0;
    for (size_t t = 0; t < p->steps; t++) {
      size_t k = at + (reverse ? t : p->steps - 1 - t) * p->inner;
      l = 1 + a * l;
      a = p->a[k];
      off = fmax(off, (double)fabsl(gb[k] - l));
    }
    off = fmax(off, (double)fabsl(g0[s] - a * l));
  }
  expect(off, 1e-13, "gradient", p->steps, p->inner, p->outer);
  free(ga);
  free(gb);
  free(g0);
}

int main(void) {
  const size_t shapes[][3] = {{1, 1, 1},     {2, 1, 3},     {15, 1, 8},    {16, 1, 9},
                              {17, 3, 2},    {61, 8, 1},    {100, 9, 3},   {50, 300, 1},
                              {32639, 1, 1}, {32640, 1, 1}, {32641, 1, 1}, {40000, 1, 2},
                              {40000, 3, 1}, {33000, 2, 4}};
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
    problem p = make(shapes[k][0], shapes[k][1], shapes[k][2]);
    for (int reverse = 0; reverse < 2; reverse++) {
      solve(&p, reverse);
      for (int threads = 1; threads <= 3; threads += 2) {
        for (int single = 0; single < 2; single++) {
          check_plain(&p, reverse, threads, single);
          check_logs(&p, reverse, threads, single);
        }
        check_back(&p, reverse, threads);
      }
    }
    clear(&p);
  }
  printf("%d passed, %d failed\n", passed, failed);
  return failed > 0;
}
