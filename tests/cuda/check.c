/* The CUDA engine against the CPU core, without R: every cost, window, gamma and precision, lengths
 * around every edge of stripes and tiles, batches of 1, 2 and 70000; and linear recurrences,
 * scanned and one sequence a thread.
 *
 * usage: check [small|quick|full]    one line a group of cases; exit status 1 when any fails
 *
 * A hash of all CUDA results in double is printed last: two runs that differ only in the schedule
 * (SOFTDTW_EMULATE_ORDER) must print the same.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/recurrence.h"
#include "core/unit.h"
#include "cuda/cuda.h"

static int failures, compared;
static uint64_t results_hash = 1469598103934665603u;

/* ---- data ---------------------------------------------------------------------------------- */

static uint64_t random_state = 88172645463325252u;

static double uniform(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (double)(random_state >> 11) / 9007199254740992.0;
}

static sdtw_set make_set(size_t count, const int *lengths, size_t d) {
  sdtw_set set = {NULL, NULL, NULL, count, d, 0};
  size_t *start = malloc(count * sizeof *start), at = 0;
  int *length = malloc(count * sizeof *length);
  for (size_t i = 0; i < count; i++) {
    start[i] = at;
    length[i] = lengths[i];
    at += (size_t)lengths[i] * d;
    if (lengths[i] > set.longest) set.longest = lengths[i];
  }
  double *values = malloc((at + 1) * sizeof *values);
  for (size_t i = 0; i < at; i++) values[i] = 2 * uniform() - 1 + sin(0.1 * (double)i);
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

/* As the glue does for the cosine cost. */
static void make_unit(sdtw_set *set) {
  size_t last = set->count - 1, numbers = set->start[last] + (size_t)set->length[last] * set->d;
  double *unit = malloc(numbers * sizeof *unit);
  sdtw_unit_vectors(set->values, numbers / set->d, set->d, unit);
  free((void *)set->values);
  set->values = unit;
}

/* ---- running ------------------------------------------------------------------------------- */

/* The processor always works in double: it is the truth. */
static int run_on(const sdtw_engine *engine, const sdtw_job *wanted) {
  sdtw_error error = {SDTW_DEVICE_ERROR, ""};
  sdtw_job job = *wanted;
  if (engine == &sdtw_cpu_engine) job.options.single = 0;
  void *scratch = malloc(engine->plan(&job));
  sdtw_status status = engine->run(&job, scratch, NULL, &error);
  free(scratch);
  if (status == SDTW_OK) return 1;
  printf("  %s failed: %s\n", engine->name, error.message);
  failures++;
  return 0;
}

typedef struct {
  const char *name;
  sdtw_options options;
  double tolerance;
  /* Hard DTW in single precision may round two paths to the same length and take the other one. */
  int paths_differ;
} setting;

static sdtw_isa best_isa(void) {
  sdtw_isa found[3];
  return found[sdtw_isa_usable(found) - 1];
}

static sdtw_options options_of(double gamma, sdtw_ground_cost cost, int window, int single) {
  sdtw_options o = {.gamma = gamma,
                    .cost = cost,
                    .window = window,
                    .threads = 1,
                    .isa = best_isa(),
                    .single = single};
  return o;
}

/* Largest difference over the largest magnitude; infinite where one is not a number. */
static double difference(const double *a, const double *b, size_t count) {
  double worst = 0, scale = 0;
  for (size_t i = 0; i < count; i++) {
    if (isnan(a[i]) || isnan(b[i])) return INFINITY;
    if (fabs(b[i]) > scale) scale = fabs(b[i]);
    if (fabs(a[i] - b[i]) > worst) worst = fabs(a[i] - b[i]);
  }
  return scale > 0 ? worst / scale : worst;
}

static void note(const char *what, const char *which, double found, double allowed) {
  compared++;
  if (found <= allowed) return;
  failures++;
  printf("  FAIL %s: %s differs by %.3g, allowed %.3g\n", what, which, found, allowed);
}

static void add_to_hash(const void *data, size_t bytes) {
  const unsigned char *at = data;
  for (size_t i = 0; i < bytes; i++) results_hash = (results_hash ^ at[i]) * 1099511628211u;
}

/* Two places for the results of a job, one for each engine. */
typedef struct {
  double *cpu, *cuda;
  size_t count;
} twin;

static twin make_twin(size_t count) {
  twin t = {calloc(count + 1, sizeof(double)), calloc(count + 1, sizeof(double)), count};
  return t;
}

enum { OF_VALUES = 1, OF_PATHS = 20 }; /* tolerances, in those of the setting */

static void finish_twin(twin *t, const char *what, const char *which, const setting *s, int slack) {
  double found = difference(t->cuda, t->cpu, t->count);
  if (slack == OF_VALUES || !s->paths_differ) note(what, which, found, slack * s->tolerance);
  if (!s->options.single) add_to_hash(t->cuda, t->count * sizeof(double));
  free(t->cpu);
  free(t->cuda);
}

static double **row_pointers(double *from, const sdtw_set *set, size_t pairs) {
  double **rows = malloc(pairs * sizeof *rows);
  for (size_t p = 0; p < pairs; p++) {
    rows[p] = from;
    from += (size_t)set->length[set->count == 1 ? 0 : p] * set->d;
  }
  return rows;
}

static size_t numbers_of(const sdtw_set *set, size_t pairs) {
  size_t numbers = 0;
  for (size_t p = 0; p < pairs; p++)
    numbers += (size_t)set->length[set->count == 1 ? 0 : p] * set->d;
  return numbers;
}

/* ---- jobs ---------------------------------------------------------------------------------- */

static void check_values(const char *what, const setting *s, const sdtw_set *x, const sdtw_set *y) {
  size_t pairs = x->count > y->count ? x->count : y->count;
  twin value = make_twin(pairs);
  sdtw_job job = {.kind = SDTW_PAIRS, .options = s->options, .x = x, .y = y};
  job.value = value.cpu;
  run_on(&sdtw_cpu_engine, &job);
  job.value = value.cuda;
  run_on(&sdtw_cuda_engine, &job);
  finish_twin(&value, what, "value", s, OF_VALUES);
}

static void check_gradients(const char *what, const setting *s, const sdtw_set *x,
                            const sdtw_set *y) {
  size_t pairs = x->count > y->count ? x->count : y->count;
  twin value = make_twin(pairs), gx = make_twin(numbers_of(x, pairs)),
       gy = make_twin(numbers_of(y, pairs));
  sdtw_job job = {.kind = SDTW_PAIRS, .options = s->options, .x = x, .y = y};
  for (int engine = 0; engine < 2; engine++) {
    job.value = engine ? value.cuda : value.cpu;
    job.grad_x = row_pointers(engine ? gx.cuda : gx.cpu, x, pairs);
    job.grad_y = row_pointers(engine ? gy.cuda : gy.cpu, y, pairs);
    run_on(engine ? &sdtw_cuda_engine : &sdtw_cpu_engine, &job);
    free(job.grad_x);
    free(job.grad_y);
  }
  finish_twin(&value, what, "value", s, OF_VALUES);
  finish_twin(&gx, what, "gradient for x", s, OF_PATHS);
  finish_twin(&gy, what, "gradient for y", s, OF_PATHS);
}

static void check_alignment(const char *what, const setting *s, const sdtw_set *x,
                            const sdtw_set *y, const double *given) {
  size_t n = (size_t)x->length[0], m = (size_t)y->length[0];
  twin value = make_twin(1), alignment = make_twin(n * m);
  sdtw_job job = {.kind = SDTW_ALIGNMENT, .options = s->options, .x = x, .y = y};
  if (given) {
    job.given_cost = given;
    job.given_n = n;
    job.given_m = m;
    job.options.cost = SDTW_SQEUCLIDEAN;
  }
  job.value = value.cpu;
  job.alignment = alignment.cpu;
  run_on(&sdtw_cpu_engine, &job);
  job.value = value.cuda;
  job.alignment = alignment.cuda;
  run_on(&sdtw_cuda_engine, &job);
  finish_twin(&value, what, given ? "value of costs" : "value", s, OF_VALUES);
  finish_twin(&alignment, what, given ? "E of costs" : "E", s, OF_PATHS);
}

static void check_tables(const char *what, const setting *s, const sdtw_set *x, const sdtw_set *y) {
  size_t nx = x->count, ny = y->count;
  twin self = make_twin(nx * nx), cross = make_twin(nx * ny), dist = make_twin(nx * (nx - 1) / 2);
  double *own = calloc(nx, sizeof *own);
  for (size_t i = 0; i < nx; i++) own[i] = -0.5 * (double)i;
  for (int engine = 0; engine < 2; engine++) {
    const sdtw_engine *e = engine ? &sdtw_cuda_engine : &sdtw_cpu_engine;
    sdtw_job job = {.kind = SDTW_MATRIX, .options = s->options, .x = x, .y = x};
    job.value = engine ? self.cuda : self.cpu;
    run_on(e, &job);
    job.y = y;
    job.value = engine ? cross.cuda : cross.cpu;
    run_on(e, &job);
    job.kind = SDTW_DIST;
    job.y = x;
    job.own_x = job.own_y = own;
    job.value = engine ? dist.cuda : dist.cpu;
    run_on(e, &job);
  }
  free(own);
  finish_twin(&self, what, "self matrix", s, OF_VALUES);
  finish_twin(&cross, what, "cross matrix", s, OF_VALUES);
  finish_twin(&dist, what, "dist", s, OF_VALUES);
}

static void check_neighbours(const char *what, const setting *s, const sdtw_set *x,
                             const sdtw_set *y, int k) {
  size_t kept = x->count * (size_t)k;
  twin distance = make_twin(kept);
  int *index = calloc(2 * kept, sizeof *index);
  sdtw_job job = {.kind = SDTW_KNN, .options = s->options, .x = x, .y = y, .k = k};
  job.distance = distance.cpu;
  job.index = index;
  run_on(&sdtw_cpu_engine, &job);
  job.distance = distance.cuda;
  job.index = index + kept;
  run_on(&sdtw_cuda_engine, &job);
  note(what, "neighbours", memcmp(index, index + kept, kept * sizeof *index) ? 1 : 0,
       s->options.single ? 1 : 0);
  free(index);
  finish_twin(&distance, what, "their distances", s, OF_VALUES);
}

static void check_sums(const char *what, const setting *s, const sdtw_set *x, const sdtw_set *y) {
  size_t n = (size_t)x->length[0], d = x->d;
  twin value = make_twin(y->count), sum = make_twin(n * d), mass = make_twin(n),
       square = make_twin(n * d);
  double *weights = malloc(y->count * sizeof *weights);
  for (size_t i = 0; i < y->count; i++) weights[i] = 0.1 + (double)(i % 7);
  for (int engine = 0; engine < 2; engine++) {
    sdtw_job job = {.kind = SDTW_REDUCE, .options = s->options, .x = x, .y = y};
    job.weights = weights;
    job.value = engine ? value.cuda : value.cpu;
    job.sum_x = engine ? sum.cuda : sum.cpu;
    job.mass = engine ? mass.cuda : mass.cpu;
    job.square = engine ? square.cuda : square.cpu;
    run_on(engine ? &sdtw_cuda_engine : &sdtw_cpu_engine, &job);
  }
  free(weights);
  finish_twin(&value, what, "value", s, OF_VALUES);
  finish_twin(&sum, what, "sum of gradients", s, OF_PATHS);
  finish_twin(&mass, what, "mass", s, OF_PATHS);
  finish_twin(&square, what, "squares", s, OF_PATHS);
}

/* ---- cases --------------------------------------------------------------------------------- */

static const sdtw_ground_cost costs[] = {SDTW_SQEUCLIDEAN, SDTW_EUCLIDEAN, SDTW_MANHATTAN,
                                         SDTW_COSINE};
static const char *const cost_names[] = {"sqeuclidean", "euclidean", "manhattan", "cosine"};

/* In single, E feels the rounding of costs in units of gamma. */
static setting setting_of(double gamma, sdtw_ground_cost cost, int window, int single) {
  setting s = {cost_names[cost], options_of(gamma, cost, window, single), single ? 2e-6 : 2e-13,
               single && gamma == 0};
  return s;
}

static void check_pair(int n, int m, size_t d, double gamma, sdtw_ground_cost cost, int window,
                       int single) {
  setting s = setting_of(gamma, cost, window, single);
  sdtw_set x = make_set(1, &n, d), y = make_set(1, &m, d);
  char what[128];
  /* Errors of E grow as eps cost / gamma do, with the largest cost near 10 d. */
  double growth = gamma > 0 ? 10.0 * (double)d / gamma : 1;
  if (growth > 1) s.tolerance *= growth;
  if (s.tolerance > 0.01) s.tolerance = 0.01;
  if (cost == SDTW_COSINE) {
    make_unit(&x);
    make_unit(&y);
  }
  snprintf(what, sizeof what, "%s %d x %d, d %zu, gamma %g, window %d, %s", s.name, n, m, d, gamma,
           window, single ? "single" : "double");
  check_gradients(what, &s, &x, &y);
  if (n <= 300 && m <= 300) check_alignment(what, &s, &x, &y, NULL);
  free_set(&x);
  free_set(&y);
}

static void check_lengths(const int *lengths, size_t count, size_t d) {
  for (size_t i = 0; i < count; i++) {
    int n = lengths[i], m = lengths[(i * 5 + 3) % count];
    check_pair(n, m, d, 1, SDTW_SQEUCLIDEAN, -1, 0);
    check_pair(m, n, d, 0.1, SDTW_SQEUCLIDEAN, 9, i % 2 == 0);
  }
}

static void check_costs(void) {
  static const size_t dims[] = {1, 3, 8, 64};
  static const int windows[] = {-1, 1, 20};
  for (size_t c = 0; c < 4; c++) {
    for (size_t k = 0; k < 4; k++) {
      for (size_t w = 0; w < 3; w++) {
        for (int single = 0; single < 2; single++) {
          check_pair(130, 67, dims[k], 1, costs[c], windows[w], single);
          check_pair(37, 150, dims[k], 0, costs[c], windows[w], single);
        }
      }
    }
  }
}

static void check_gammas(void) {
  static const double gammas[] = {1e-6, 1e-3, 0.1, 10, 1e3, 1e6};
  for (size_t g = 0; g < 6; g++) {
    check_pair(60, 71, 1, gammas[g], SDTW_SQEUCLIDEAN, -1, 0);
    check_pair(60, 71, 3, gammas[g], SDTW_EUCLIDEAN, 5, 0);
    check_pair(60, 71, 1, gammas[g], SDTW_SQEUCLIDEAN, -1, gammas[g] >= 0.1);
  }
}

static void check_given(int n, int m, double gamma, int window, int single) {
  setting s = setting_of(gamma, SDTW_SQEUCLIDEAN, window, single);
  sdtw_set x = make_set(1, &n, 1), y = make_set(1, &m, 1);
  double *cost = malloc((size_t)n * (size_t)m * sizeof *cost);
  for (size_t i = 0; i < (size_t)n * (size_t)m; i++) cost[i] = 4 * uniform() - 1;
  check_alignment("given costs", &s, &x, &y, cost);
  free(cost);
  free_set(&x);
  free_set(&y);
}

/* Sets of unequal lengths through every kind of job. */
static void check_sets(size_t nx, size_t ny, int longest, size_t d, double gamma, int window,
                       int single) {
  setting s = setting_of(gamma, SDTW_SQEUCLIDEAN, window, single);
  int *lengths = malloc((nx > ny ? nx : ny) * sizeof *lengths);
  char what[128];
  snprintf(what, sizeof what, "sets of %zu and %zu, gamma %g, window %d, %s", nx, ny, gamma, window,
           single ? "single" : "double");
  if (gamma > 0 && gamma < 1) s.tolerance /= gamma;
  for (size_t i = 0; i < nx; i++) lengths[i] = 1 + (int)(uniform() * longest);
  sdtw_set x = make_set(nx, lengths, d);
  for (size_t i = 0; i < ny; i++) lengths[i] = 1 + (int)(uniform() * longest);
  sdtw_set y = make_set(ny, lengths, d), centroid = make_set(1, lengths, d);
  free(lengths);
  check_tables(what, &s, &x, &y);
  check_neighbours(what, &s, &y, &x, 3);
  check_neighbours(what, &s, &x, &x, 2);
  check_values(what, &s, &centroid, &y);
  check_gradients(what, &s, &centroid, &y);
  check_sums(what, &s, &centroid, &y);
  free_set(&x);
  free_set(&y);
  free_set(&centroid);
}

/* Far from zero, where a float has no digits left for the differences. */
static void check_offset(void) {
  setting s = setting_of(1, SDTW_SQEUCLIDEAN, -1, 1);
  int n = 90, m = 75;
  sdtw_set sets[] = {make_set(1, &n, 2), make_set(1, &m, 2)};
  for (int k = 0; k < 2; k++) {
    double *values = (double *)sets[k].values;
    for (int i = 0; i < 2 * sets[k].longest; i++) values[i] += 1e6 * (1 + i % 2);
  }
  s.tolerance *= 20; /* as in check_pair() */
  check_gradients("single, far from zero", &s, &sets[0], &sets[1]);
  free_set(&sets[0]);
  free_set(&sets[1]);
}

static void check_batch(size_t pairs, int longest, int single) {
  setting s = setting_of(1, SDTW_SQEUCLIDEAN, -1, single);
  int *lengths = calloc(pairs, sizeof *lengths);
  char what[64];
  snprintf(what, sizeof what, "batch of %zu", pairs);
  for (size_t i = 0; i < pairs; i++) lengths[i] = 1 + (int)(uniform() * longest);
  sdtw_set x = make_set(pairs, lengths, 1);
  for (size_t i = 0; i < pairs; i++) lengths[i] = 1 + (int)(uniform() * longest);
  sdtw_set y = make_set(pairs, lengths, 1);
  free(lengths);
  check_gradients(what, &s, &x, &y);
  free_set(&x);
  free_set(&y);
}

/* ---- interrupts ---------------------------------------------------------------------------- */

/* Bytes that the package holds on devices. */
static double bytes_held(void) {
  sdtw_cuda_take_record();
  return sdtw_cuda_take_record().peak_bytes;
}

static int stop_after(void *data, double done) {
  int *checks = data;
  if (done <= 0 || done > 1) *checks = -100; /* no share of the work */
  return --*checks <= 0;
}

/* Stopped between chunks, a job gives back all it took, and the next one is right. */
static void check_stop(int gradients, int checks) {
  enum { SERIES = 60 };
  int lengths[SERIES], left = checks;
  for (int i = 0; i < SERIES; i++) lengths[i] = 200 + i / 3; /* two chunks of pairs */
  sdtw_set x = make_set(SERIES, lengths, 1);
  double *value = calloc(SERIES * SERIES, sizeof *value),
         *grad = calloc(SERIES * 220, sizeof *grad);
  double **rows = row_pointers(grad, &x, SERIES);
  sdtw_job job = {.kind = SDTW_MATRIX, .x = &x, .y = &x, .value = value};
  job.options = options_of(1, SDTW_SQEUCLIDEAN, -1, 0);
  if (gradients) {
    job.kind = SDTW_PAIRS;
    job.grad_x = rows;
  }
  sdtw_error error = {SDTW_DEVICE_ERROR, ""};
  const sdtw_monitor monitor = {stop_after, &left};
  void *scratch = malloc(sdtw_cuda_engine.plan(&job));
  sdtw_status status = sdtw_cuda_engine.run(&job, scratch, &monitor, &error);
  free(scratch);
  note("a job that is stopped", "its status", status == SDTW_STOPPED ? 0 : 1, 0);
  note("a job that is stopped", "the share done", left == 0 ? 0 : 1, 0);
  sdtw_cuda_forget();
  note("a job that is stopped", "what it gives back", bytes_held(), 0);
  free(rows);
  free(grad);
  free(value);
  free_set(&x);
  check_pair(30, 40, 1, 1, SDTW_SQEUCLIDEAN, -1, 0);
}

/* ---- recurrences --------------------------------------------------------------------------- */

typedef struct {
  const char *name;
  int logs, single, reverse;
  int cancelling; /* coefficients of 1e3, and terms that keep x at 1 */
  double tolerance;
} recurrence_setting;

static double *random_numbers(size_t count, double from, double to) {
  double *v = malloc(count * sizeof *v);
  for (size_t i = 0; i < count; i++) v[i] = from + (to - from) * uniform();
  return v;
}

static double *random_signs(size_t count) {
  double *v = malloc(count * sizeof *v);
  for (size_t i = 0; i < count; i++) v[i] = uniform() < 0.02 ? 0 : uniform() < 0.5 ? -1 : 1;
  return v;
}

/* x_t = a_t x_{t-1} + b_t by an engine; as the glue lays out an array inner x steps x outer. */
static void recur(const sdtw_recurrence_engine *engine, sdtw_recurrence job, int reverse,
                  double *value, double *sign) {
  sdtw_error error = {SDTW_DEVICE_ERROR, ""};
  const ptrdiff_t inner = (ptrdiff_t)job.inner, last = inner * ((ptrdiff_t)job.steps - 1);
  job.out = (sdtw_sink){value, sign, {inner, 1, inner * (ptrdiff_t)job.steps}};
  if (engine == &sdtw_cpu_recurrence_engine) job.single = 0;
  if (reverse) {
    job.a.value += last;
    job.b.value += last;
    job.out.value += last;
    if (sign) job.a.sign += last, job.b.sign += last, job.out.sign += last;
    job.out.by.step = job.a.by.step = job.b.by.step = -inner;
  }
  void *scratch = malloc(engine->plan(&job) + 1);
  if (engine->run(&job, scratch, NULL, &error) != SDTW_OK) {
    printf("  a recurrence failed: %s\n", error.message);
    failures++;
  }
  free(scratch);
}

/* In numbers of logarithms and signs, which differ by orders of magnitude: those of one sequence.
 */
static void finish_recurrence(twin *value, twin *sign, const recurrence_setting *s,
                              const char *what) {
  if (!s->logs) {
    note(what, s->name, difference(value->cuda, value->cpu, value->count), s->tolerance);
  } else {
    double worst = 0;
    for (size_t i = 0; i < value->count; i++) {
      const double cuda = sign->cuda[i] * exp(value->cuda[i]);
      const double cpu = sign->cpu[i] * exp(value->cpu[i]);
      worst = fmax(worst, fabs(cuda - cpu) / (1 + fabs(cpu)));
    }
    note(what, s->name, worst, s->tolerance);
  }
  if (!s->single) {
    add_to_hash(value->cuda, value->count * sizeof(double));
    add_to_hash(sign->cuda, sign->count * sizeof(double));
  }
  free(value->cpu);
  free(value->cuda);
  free(sign->cpu);
  free(sign->cuda);
}

static void check_recurrence(size_t steps, size_t inner, size_t outer,
                             const recurrence_setting *s) {
  const size_t sequences = inner * outer, count = steps * sequences;
  const double low = s->logs ? -2 : s->cancelling ? 1e3 : -1, high = s->logs ? 0 : 1;
  const sdtw_strides by = {(ptrdiff_t)inner, 1, (ptrdiff_t)(inner * steps)};
  double *a = random_numbers(count, low, s->cancelling ? 1e3 : high);
  double *b = random_numbers(count, low, high), *x0 = random_numbers(sequences, low, high);
  double *signs = random_signs(count);
  twin value = make_twin(count), sign = make_twin(count);
  char what[96];
  snprintf(what, sizeof what, "recurrence of %zu x %zu x %zu", inner, steps, outer);
  for (size_t i = 0; i < count && s->cancelling; i++) b[i] = 1 - a[i];
  for (size_t i = 0; i < sequences && s->cancelling; i++) x0[i] = 1;
  sdtw_recurrence job = {.steps = steps,
                         .inner = inner,
                         .outer = outer,
                         .a = {a, s->logs ? signs : NULL, by},
                         .b = {b, s->logs ? signs : NULL, by},
                         .x0 = {x0, NULL, {0, 1, (ptrdiff_t)inner}},
                         .logs = s->logs,
                         .threads = 1,
                         .single = s->single};
  recur(&sdtw_cpu_recurrence_engine, job, s->reverse, value.cpu, s->logs ? sign.cpu : NULL);
  recur(&sdtw_cuda_recurrence_engine, job, s->reverse, value.cuda, s->logs ? sign.cuda : NULL);
  finish_recurrence(&value, &sign, s, what);
  free(a);
  free(b);
  free(x0);
  free(signs);
}

static const recurrence_setting recurrence_settings[] = {
    {"double", 0, 0, 0, 0, 1e-15},
    {"double, reverse", 0, 0, 1, 0, 1e-15},
    {"single", 0, 1, 0, 0, 1e-6},
    {"logarithms", 1, 0, 0, 0, 1e-13},
    {"reverse logarithms", 1, 0, 1, 0, 1e-13},
    {"single logarithms", 1, 1, 0, 0, 2e-5},
    {"cancelling", 0, 0, 0, 1, 0},
};
enum { RECURRENCE_SETTINGS = sizeof recurrence_settings / sizeof *recurrence_settings };

/* Both sides of every border: of what is loaded ahead, of warps, of tiles, and of where scans begin
 * and end. */
static void check_recurrences(int full) {
  static const size_t shapes[][3] = {{1, 1, 1},    {2, 1, 31},   {7, 3, 11},   {8, 1, 33},
                                     {33, 40, 2},  {100, 1, 64}, {4095, 1, 1}, {4096, 1, 1},
                                     {4097, 1, 2}, {6144, 3, 1}, {8191, 2, 2}, {70001, 1, 1}};
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
    for (int s = 0; s < RECURRENCE_SETTINGS; s++)
      check_recurrence(shapes[k][0], shapes[k][1], shapes[k][2], &recurrence_settings[s]);
  }
  if (!full) return;
  check_recurrence(3, 1, 70000, &recurrence_settings[0]);
  check_recurrence(3, 70000, 1, &recurrence_settings[1]);
  check_recurrence(1000003, 1, 1, &recurrence_settings[0]);
}

static void report(const char *group) {
  static int seen, failed;
  printf("%-40s %5d comparisons, %d failed\n", group, compared - seen, failures - failed);
  fflush(stdout);
  seen = compared;
  failed = failures;
}

/* A little of everything that differs in how memory is shared: for ThreadSanitizer, which is slow.
 */
static void check_small(void) {
  static const int windows[] = {-1, 9};
  for (int w = 0; w < 2; w++) {
    check_pair(140, 70, 1, 1, SDTW_SQEUCLIDEAN, windows[w], 0);
    check_pair(300, 90, 5, 1, SDTW_EUCLIDEAN, windows[w], 1);
    check_pair(20, 45, 2, 0, SDTW_MANHATTAN, windows[w], 0);
  }
  check_sets(6, 5, 140, 2, 1, -1, 0);
  check_batch(40, 30, 1);
  check_recurrence(10300, 1, 2, &recurrence_settings[0]);
  check_recurrence(40, 1, 70, &recurrence_settings[1]);
  check_recurrence(4200, 2, 1, &recurrence_settings[6]);
  report("a little of everything");
}

static void check_all(int full) {
  static const int edges[] = {1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257};
  static const int lengthy[] = {1023, 1024, 1025, 2049};
  check_lengths(edges, sizeof edges / sizeof *edges, 1);
  report("lengths around the edges");
  if (full) check_lengths(lengthy, sizeof lengthy / sizeof *lengthy, 1);
  report("long series");
  check_costs();
  report("costs, dimensions, windows");
  check_gammas();
  report("gamma from 1e-6 to 1e6");
  for (int single = 0; single < 2; single++) {
    check_given(1, 1, 1, -1, single);
    check_given(140, 33, 0.5, -1, single);
    check_given(33, 260, 1, 4, single);
    check_given(129, 64, 0, 3, single);
  }
  report("costs as given");
  for (int single = 0; single < 2; single++) {
    check_sets(9, 12, 150, 2, 1, -1, single);
    check_sets(70, 90, 12, 1, 0.1, 3, single);
    check_sets(6, 5, 40, 3, 0, 2, single);
  }
  report("matrix, dist, knn, sums");
  check_batch(1, 300, 0);
  check_batch(2, 300, 1);
  check_offset();
  report("batches of 1 and 2");
  check_stop(0, 1);
  check_stop(0, 2);
  check_stop(1, 1);
  report("stopped between chunks");
  if (full) check_batch(70000, 4, 0);
  report("batch of 70000");
  check_recurrences(full);
  report("recurrences");
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "full";
  sdtw_error error;
  if (sdtw_cuda_count(&error) == 0) {
    printf("no device: %s\n", error.message);
    return 2;
  }
  if (strcmp(mode, "small") == 0) {
    check_small();
  } else {
    check_all(strcmp(mode, "full") == 0);
  }
  sdtw_cuda_forget();
  printf("%d comparisons, %d failed, results %016llx\n", compared, failures,
         (unsigned long long)results_hash);
  return failures > 0;
}
