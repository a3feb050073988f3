/* Linear recurrences and their gradients. R has checked and made doubles of everything; an argument
 * is as long as the whole array, as one sequence, or one number. Its signs, where it is given by
 * logarithms and has any, are as long; else NULL. */
#include "ffi.h"

#include "core/recurrence.h"

typedef struct {
  size_t inner, steps, outer;
  int reverse, logs, threads;
} shape;

static shape parse_shape(SEXP dims, SEXP opts) {
  const double *d = REAL_RO(dims);
  shape s = {(size_t)d[0], (size_t)d[1], (size_t)d[2], 0, 0, 0};
  s.reverse = Rf_asLogical(list_element(opts, "reverse"));
  s.logs = Rf_asLogical(list_element(opts, "logs"));
  s.threads = Rf_asInteger(list_element(opts, "threads"));
  return s;
}

static R_xlen_t numbers_of(const shape *s) { return (R_xlen_t)(s->inner * s->steps * s->outer); }

/* How an argument of this length repeats. */
static sdtw_strides strides_of(const shape *s, R_xlen_t length) {
  ptrdiff_t inner = (ptrdiff_t)s->inner, steps = (ptrdiff_t)s->steps;
  if (length == numbers_of(s)) return (sdtw_strides){inner, 1, inner * steps};
  return (sdtw_strides){length == 1 ? 0 : 1, 0, 0};
}

static sdtw_strides sequence_strides(const shape *s, R_xlen_t length) {
  if (length == 1) return (sdtw_strides){0, 0, 0};
  return (sdtw_strides){0, 1, (ptrdiff_t)s->inner};
}

/* In reverse, the first step lies last. */
static ptrdiff_t turn(const shape *s, sdtw_strides *by) {
  if (!s->reverse) return 0;
  by->step = -by->step;
  return -by->step * ((ptrdiff_t)s->steps - 1);
}

static const double *after(const double *p, ptrdiff_t n) { return p ? p + n : NULL; }

static sdtw_stream stream_of(const shape *s, SEXP value, SEXP sign) {
  sdtw_stream in = {REAL_RO(value), Rf_isNull(sign) ? NULL : REAL_RO(sign),
                    strides_of(s, Rf_xlength(value))};
  ptrdiff_t first = turn(s, &in.by);
  in.value += first;
  in.sign = after(in.sign, first);
  return in;
}

static sdtw_sink sink_of(const shape *s, SEXP value, SEXP sign) {
  sdtw_sink out = {REAL(value), Rf_isNull(sign) ? NULL : REAL(sign),
                   strides_of(s, Rf_xlength(value))};
  ptrdiff_t first = turn(s, &out.by);
  out.value += first;
  if (out.sign) out.sign += first;
  return out;
}

static sdtw_recurrence parse_job(const shape *s, SEXP a, SEXP b, SEXP x0, SEXP signs) {
  SEXP x0_sign = VECTOR_ELT(signs, 2);
  return (sdtw_recurrence){
      .steps = s->steps,
      .inner = s->inner,
      .outer = s->outer,
      .a = stream_of(s, a, VECTOR_ELT(signs, 0)),
      .b = stream_of(s, b, VECTOR_ELT(signs, 1)),
      .x0 = {REAL_RO(x0), Rf_isNull(x0_sign) ? NULL : REAL_RO(x0_sign),
             sequence_strides(s, Rf_xlength(x0))},
      .logs = s->logs,
      .threads = s->threads,
  };
}

static void run_recurrence(const sdtw_recurrence *job) {
  const void *mark = vmaxget();
  void *scratch = R_alloc(sdtw_recurrence_plan(job), 1);
  sdtw_monitor monitor = user_monitor();
  sdtw_status status = sdtw_recurrence_run(job, scratch, &monitor);
  vmaxset(mark);
  if (status == SDTW_STOPPED) raise_interrupt();
}
