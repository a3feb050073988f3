/* Linear recurrences and their gradients. R has checked and made doubles of everything; an argument
 * is as long as the whole array, as one sequence, or one number. Its signs, where it is given by
 * logarithms and has any, are as long; else NULL. */
#include "ffi.h"

#include <string.h>

#include "cuda/cuda.h"

typedef struct {
  size_t inner, steps, outer;
  int reverse;
} shape;

static shape parse_shape(SEXP dims, SEXP opts) {
  const double *d = REAL_RO(dims);
  int reverse = Rf_asLogical(list_element(opts, "reverse"));
  return (shape){(size_t)d[0], (size_t)d[1], (size_t)d[2], reverse};
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

static sdtw_recurrence parse_job(const shape *s, SEXP a, SEXP b, SEXP x0, SEXP signs, SEXP opts) {
  SEXP x0_sign = VECTOR_ELT(signs, 2);
  return (sdtw_recurrence){
      .steps = s->steps,
      .inner = s->inner,
      .outer = s->outer,
      .a = stream_of(s, a, VECTOR_ELT(signs, 0)),
      .b = stream_of(s, b, VECTOR_ELT(signs, 1)),
      .x0 = {REAL_RO(x0), Rf_isNull(x0_sign) ? NULL : REAL_RO(x0_sign),
             sequence_strides(s, Rf_xlength(x0))},
      .logs = Rf_asLogical(list_element(opts, "logs")),
      .threads = Rf_asInteger(list_element(opts, "threads")),
      .single = Rf_asLogical(list_element(opts, "single")),
      .device_memory = Rf_asReal(list_element(opts, "memory")),
  };
}

static const sdtw_recurrence_engine *engine_of(SEXP opts) {
  return wants_cuda(opts) ? &sdtw_cuda_recurrence_engine : &sdtw_cpu_recurrence_engine;
}

static void raise_if_unfinished(sdtw_status status, const sdtw_error *error) {
  if (status == SDTW_STOPPED) raise_interrupt();
  if (status == SDTW_FAILED) raise_failure(error);
}

static void run_recurrence(const sdtw_recurrence *job, const sdtw_recurrence_engine *engine) {
  const void *mark = vmaxget();
  void *scratch = R_alloc(engine->plan(job), 1);
  sdtw_monitor monitor = user_monitor();
  sdtw_error error = {SDTW_DEVICE_ERROR, ""};
  sdtw_status status = engine->run(job, scratch, &monitor, &error);
  vmaxset(mark);
  raise_if_unfinished(status, &error);
}

/* list(value, sign); sign is NULL unless `signs`, list(a, b, x0), has any. */
SEXP ffi_recurrence(SEXP a, SEXP b, SEXP x0, SEXP signs, SEXP dims, SEXP opts) {
  shape s = parse_shape(dims, opts);
  sdtw_recurrence job = parse_job(&s, a, b, x0, signs, opts);
  int any = job.a.sign || job.b.sign || job.x0.sign;
  SEXP results[2] = {PROTECT(Rf_allocVector(REALSXP, numbers_of(&s))), R_NilValue};
  if (any) results[1] = Rf_allocVector(REALSXP, numbers_of(&s));
  PROTECT(results[1]);
  job.out = sink_of(&s, results[0], results[1]);
  run_recurrence(&job, engine_of(opts));
  const char *const names[] = {"value", "sign"};
  SEXP list = named_list(2, names, results);
  UNPROTECT(2);
  return list;
}

static SEXP zeros_like(SEXP x) {
  SEXP zeros = Rf_allocVector(REALSXP, Rf_xlength(x));
  memset(REAL(zeros), 0, (size_t)Rf_xlength(zeros) * sizeof(double));
  return zeros;
}

static void run_back(const sdtw_recurrence_back *back) {
  const void *mark = vmaxget();
  void *scratch = R_alloc(sdtw_recurrence_back_plan(back), 1);
  sdtw_monitor monitor = user_monitor();
  sdtw_error error = {SDTW_DEVICE_ERROR, ""};
  sdtw_status status = sdtw_recurrence_back_run(back, scratch, &monitor, &error);
  vmaxset(mark);
  raise_if_unfinished(status, &error);
}

/* `value` and `value_sign` are what ffi_recurrence() gave. Gradients are as long as arguments. */
SEXP ffi_recurrence_grad(SEXP a, SEXP b, SEXP x0, SEXP signs, SEXP value, SEXP value_sign,
                         SEXP grad, SEXP dims, SEXP opts) {
  shape s = parse_shape(dims, opts);
  sdtw_recurrence job = parse_job(&s, a, b, x0, signs, opts);
  SEXP results[3] = {PROTECT(zeros_like(a)), PROTECT(zeros_like(b)), PROTECT(zeros_like(x0))};
  job.out = sink_of(&s, value, value_sign);
  sdtw_recurrence_back back = {
      .job = &job,
      .engine = engine_of(opts),
      .grad = stream_of(&s, grad, R_NilValue),
      .grad_a = sink_of(&s, results[0], R_NilValue),
      .grad_b = sink_of(&s, results[1], R_NilValue),
      .grad_x0 = {REAL(results[2]), NULL, sequence_strides(&s, Rf_xlength(x0))},
  };
  run_back(&back);
  const char *const names[] = {"grad_a", "grad_b", "grad_x0"};
  SEXP list = named_list(3, names, results);
  UNPROTECT(3);
  return list;
}
