/* The gradient of a linear recurrence; see recurrence.h.
 *
 * With g_t the derivative by x_t alone and l_t the derivative by all that x_t moves,
 *
 *     l_t = g_t + w_{t+1} l_{t+1},   w_t = d x_t / d x_{t-1},
 *
 * a linear recurrence from the end, run by the engine of the job. Then a_t has l_t x_{t-1}, b_t has
 * l_t and x0 has l_1 w_1, where w_t = a_t. By logarithms w_t = a_t x_{t-1} / x_t, which is also
 * what a_t has of l_t, and b_t has b_t / x_t of it.
 */
#include <math.h>

#include "arena.h"
#include "recurrence.h"

/* Arrays of all steps and sequences, laid out as `by` says. */
typedef struct {
  sdtw_strides by;
  double *l;
  double *weight; /* w, with logs */
} buffers;

static buffers lay_out(const sdtw_recurrence *job, sdtw_arena *arena) {
  ptrdiff_t inner = (ptrdiff_t)job->inner, steps = (ptrdiff_t)job->steps;
  size_t numbers = job->steps * job->inner * job->outer;
  buffers all = {.by = {inner, 1, inner * steps}};
  all.l = sdtw_take_doubles(arena, numbers);
  if (job->logs) all.weight = sdtw_take_doubles(arena, numbers);
  return all;
}

static ptrdiff_t place(sdtw_strides by, size_t t, size_t i, size_t o) {
  return (ptrdiff_t)t * by.step + (ptrdiff_t)i * by.inner + (ptrdiff_t)o * by.outer;
}

/* A number of a stream: the double itself, or logarithm and sign. */
typedef struct {
  double value, sign;
} number;

static number get(const double *value, const double *sign, ptrdiff_t at) {
  return (number){value[at], sign ? sign[at] : 1.0};
}

static number get_in(const sdtw_stream *s, size_t t, size_t i, size_t o) {
  return get(s->value, s->sign, place(s->by, t, i, o));
}

static number get_out(const sdtw_recurrence *job, size_t t, size_t i, size_t o) {
  return get(job->out.value, job->out.sign, place(job->out.by, t, i, o));
}

static number before(const sdtw_recurrence *job, size_t t, size_t i, size_t o) {
  return t > 0 ? get_out(job, t - 1, i, o) : get_in(&job->x0, 0, i, o);
}

/* log_part / x, where log_part is the logarithm of the part and x is not 0 */
static double share(double log_part, double sign, number x) {
  if (log_part == -HUGE_VAL || x.value == -HUGE_VAL || x.sign == 0) return 0.0;
  return sign * x.sign * exp(log_part - x.value);
}

static void find_weights(const sdtw_recurrence *job, const buffers *all) {
  for (size_t o = 0; o < job->outer; o++) {
    for (size_t t = 0; t < job->steps; t++) {
      for (size_t i = 0; i < job->inner; i++) {
        number a = get_in(&job->a, t, i, o), x = before(job, t, i, o);
        all->weight[place(all->by, t, i, o)] = share(a.value + x.value, a.sign * x.sign,
                                                     get_out(job, t, i, o));
      }
    }
  }
}

/* ---- l ------------------------------------------------------------------------------------- */

static sdtw_stream backwards(sdtw_stream s, ptrdiff_t from) {
  s.value += from * s.by.step;
  s.by.step = -s.by.step;
  return s;
}

/* The recurrence for l. Its x0 is the last l, which is the last g. */
static sdtw_recurrence adjoint(const sdtw_recurrence_back *back, const buffers *all) {
  const sdtw_recurrence *job = back->job;
  ptrdiff_t last = (ptrdiff_t)job->steps - 1, from = last > 0 ? last - 1 : 0;
  sdtw_stream weight = {job->a.value, NULL, job->a.by};
  if (job->logs) weight = (sdtw_stream){all->weight, NULL, all->by};
  sdtw_recurrence run = {
      .steps = job->steps - 1,
      .inner = job->inner,
      .outer = job->outer,
      .a = backwards(weight, last),
      .b = backwards(back->grad, from),
      .x0 = backwards(back->grad, last),
      .out = {all->l + from * all->by.step, NULL, all->by},
      .threads = job->threads,
      .single = job->single,
      .device_memory = job->device_memory,
  };
  run.out.by.step = -all->by.step;
  return run;
}

static void copy_last(const sdtw_recurrence_back *back, const buffers *all) {
  const sdtw_recurrence *job = back->job;
  size_t last = job->steps - 1;
  for (size_t o = 0; o < job->outer; o++) {
    for (size_t i = 0; i < job->inner; i++)
      all->l[place(all->by, last, i, o)] = get_in(&back->grad, last, i, o).value;
  }
}

/* ---- sums ---------------------------------------------------------------------------------- */

static void add(const sdtw_sink *s, size_t t, size_t i, size_t o, double value) {
  s->value[place(s->by, t, i, o)] += value;
}

static void hand_out(const sdtw_recurrence_back *back, const buffers *all, size_t t, size_t i,
                     size_t o) {
  const sdtw_recurrence *job = back->job;
  ptrdiff_t at = place(all->by, t, i, o);
  double l = all->l[at], weight;
  if (job->logs) {
    number b = get_in(&job->b, t, i, o);
    weight = all->weight[at];
    add(&back->grad_a, t, i, o, l * weight);
    add(&back->grad_b, t, i, o, l * share(b.value, b.sign, get_out(job, t, i, o)));
  } else {
    weight = get_in(&job->a, t, i, o).value;
    add(&back->grad_a, t, i, o, l * before(job, t, i, o).value);
    add(&back->grad_b, t, i, o, l);
  }
  if (t == 0) add(&back->grad_x0, 0, i, o, l * weight);
}

/* In the order of the sequences and steps, on one thread, and in double: sums depend on neither
 * threads nor engines. A device would have to send back what this computes as fast as it arrives.
 */
static void hand_out_all(const sdtw_recurrence_back *back, const buffers *all) {
  const sdtw_recurrence *job = back->job;
  for (size_t o = 0; o < job->outer; o++) {
    for (size_t t = 0; t < job->steps; t++) {
      for (size_t i = 0; i < job->inner; i++) hand_out(back, all, t, i, o);
    }
  }
}

/* ---- entry --------------------------------------------------------------------------------- */

size_t sdtw_recurrence_back_plan(const sdtw_recurrence_back *back) {
  sdtw_arena counting = {NULL, 0};
  buffers all = lay_out(back->job, &counting);
  (void)all;
  sdtw_recurrence shape = *back->job;
  shape.logs = 0;
  return counting.used + back->engine->plan(&shape) + 2 * SDTW_CACHE_LINE;
}

sdtw_status sdtw_recurrence_back_run(const sdtw_recurrence_back *back, void *scratch,
                                     const sdtw_monitor *monitor, sdtw_error *error) {
  size_t past = (size_t)scratch % SDTW_CACHE_LINE;
  sdtw_arena arena = {(char *)scratch + (past ? SDTW_CACHE_LINE - past : 0), 0};
  buffers all = lay_out(back->job, &arena);
  if (back->job->logs) find_weights(back->job, &all);
  sdtw_recurrence run = adjoint(back, &all);
  sdtw_status status = back->engine->run(&run, arena.base + arena.used, monitor, error);
  if (status) return status;
  copy_last(back, &all);
  hand_out_all(back, &all);
  return SDTW_OK;
}
