/* See ffi.h. */
#include "ffi.h"

#include <string.h>

#include "core/engine.h"
#include "core/unit.h"
#include "cuda/cuda.h"

SEXP list_element(SEXP list, const char *name) {
  SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  for (R_xlen_t i = 0; i < Rf_xlength(names); i++) {
    if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0) return VECTOR_ELT(list, i);
  }
  return R_NilValue;
}

SEXP named_list(int n, const char *const *names, SEXP *values) {
  SEXP list = PROTECT(Rf_allocVector(VECSXP, n));
  SEXP labels = PROTECT(Rf_allocVector(STRSXP, n));
  for (int i = 0; i < n; i++) {
    SET_VECTOR_ELT(list, i, values[i]);
    SET_STRING_ELT(labels, i, Rf_mkChar(names[i]));
  }
  Rf_setAttrib(list, R_NamesSymbol, labels);
  UNPROTECT(2);
  return list;
}

/* The named instruction set, or the most capable one that this processor has. */
static sdtw_isa parse_isa(SEXP isa) {
  sdtw_isa found[3];
  int n = sdtw_isa_usable(found);
  if (Rf_isNull(isa)) return found[n - 1];
  const char *name = CHAR(Rf_asChar(isa));
  for (int i = 0; i < n; i++) {
    if (strcmp(sdtw_isa_name(found[i]), name) == 0) return found[i];
  }
  Rf_error("the option `softdtw.isa` asks for \"%s\", which this processor does not have", name);
}

sdtw_options parse_options(SEXP opts) {
  SEXP single = list_element(opts, "single");
  return (sdtw_options){
      .gamma = Rf_asReal(list_element(opts, "gamma")),
      .cost = (sdtw_ground_cost)Rf_asInteger(list_element(opts, "cost")),
      .window = (ptrdiff_t)Rf_asReal(list_element(opts, "window")),
      .single = !Rf_isNull(single) && Rf_asLogical(single),
      .threads = Rf_asInteger(list_element(opts, "threads")),
      .isa = parse_isa(list_element(opts, "isa")),
      .device_memory = Rf_asReal(list_element(opts, "memory")),
  };
}

sdtw_set *parse_set(SEXP series, const sdtw_options *options) {
  SEXP values = list_element(series, "values"), lengths = list_element(series, "lengths");
  sdtw_set *set = (sdtw_set *)R_alloc(1, sizeof(sdtw_set));
  size_t count = (size_t)Rf_xlength(lengths), at = 0;
  size_t *start = (size_t *)R_alloc(count, sizeof(size_t));
  const int *length = INTEGER_RO(lengths);
  int longest = 0;
  size_t d = (size_t)Rf_asInteger(list_element(series, "d"));
  for (size_t i = 0; i < count; i++) {
    start[i] = at;
    at += (size_t)length[i] * d;
    if (length[i] > longest) longest = length[i];
  }
  *set = (sdtw_set){REAL_RO(values), start, length, count, d, longest};
  if (options->cost == SDTW_COSINE) {
    double *unit = (double *)R_alloc(at, sizeof(double));
    sdtw_unit_vectors(set->values, at / d, d, unit);
    set->values = unit;
  }
  return set;
}

void chain_unit(const sdtw_options *options, SEXP series, size_t which, double *gradient) {
  if (options->cost != SDTW_COSINE) return;
  const double *values = REAL_RO(list_element(series, "values"));
  const int *length = INTEGER_RO(list_element(series, "lengths"));
  size_t d = (size_t)Rf_asInteger(list_element(series, "d"));
  for (size_t i = 0; i < which; i++) values += (size_t)length[i] * d;
  sdtw_unit_gradient(values, (size_t)length[which], d, gradient);
}

SEXP zero_matrix(int rows, int columns) {
  SEXP matrix = Rf_allocMatrix(REALSXP, rows, columns);
  memset(REAL(matrix), 0, (size_t)Rf_xlength(matrix) * sizeof(double));
  return matrix;
}

/* ---- running ------------------------------------------------------------------------------- */

static void check_interrupt(void *unused) {
  (void)unused;
  R_CheckUserInterrupt();
}

typedef struct {
  SEXP progress;
} watch;

static int show_progress(SEXP progress, double done) {
  int failed = 0;
  SEXP fraction = PROTECT(Rf_ScalarReal(done));
  SEXP call = PROTECT(Rf_lang2(progress, fraction));
  R_tryEvalSilent(call, R_GlobalEnv, &failed);
  UNPROTECT(2);
  return failed;
}

/* R_CheckUserInterrupt() may jump; R_ToplevelExec() contains the jump and tells of it. */
static int look_at_user(void *data, double done) {
  const watch *w = data;
  if (!R_ToplevelExec(check_interrupt, NULL)) return 1;
  return w && !Rf_isNull(w->progress) && show_progress(w->progress, done);
}

sdtw_monitor user_monitor(void) { return (sdtw_monitor){look_at_user, NULL}; }

/* The interrupt has been taken from R by look_at_user(): give it back as R would have. */
void raise_interrupt(void) {
  SEXP name = PROTECT(Rf_mkString("softdtw"));
  SEXP namespace = PROTECT(R_FindNamespace(name));
  SEXP call = PROTECT(Rf_lang1(Rf_install("signal_interrupt")));
  Rf_eval(call, namespace);
  UNPROTECT(3);
}

const char *failure_name(const sdtw_error *error) {
  switch (error->kind) {
    case SDTW_NO_DEVICE:
      return "no_device";
    case SDTW_FORKED:
      return "fork";
    case SDTW_DEVICE_MEMORY:
      return "device_memory";
    case SDTW_DEVICE_ERROR:
      break;
  }
  return "device";
}

/* By now the engine has given back all it took: R may jump. */
void raise_failure(const sdtw_error *error) {
  SEXP name = PROTECT(Rf_mkString("softdtw"));
  SEXP namespace = PROTECT(R_FindNamespace(name));
  SEXP kind = PROTECT(Rf_mkString(failure_name(error)));
  SEXP reason = PROTECT(Rf_mkString(error->message));
  SEXP call = PROTECT(Rf_lang3(Rf_install("signal_failure"), kind, reason));
  Rf_eval(call, namespace);
  UNPROTECT(5);
}

int wants_cuda(SEXP opts) {
  SEXP backend = list_element(opts, "backend");
  return !Rf_isNull(backend) && strcmp(CHAR(Rf_asChar(backend)), "cuda") == 0;
}

/* A descent calls with the same sizes hundreds of times. New memory would cost a page fault every
 * 4 KB and come out of no cache, so a moderate amount is kept from call to call, as R's own. */
static const size_t most_kept = (size_t)64 << 20;
static SEXP kept_scratch = NULL;
static int is_lent = 0; /* a progress display may call us again */

static void *borrow_scratch(size_t bytes) {
  if (is_lent || bytes > most_kept) return R_alloc(bytes, 1);
  if (!kept_scratch || (size_t)Rf_xlength(kept_scratch) < bytes) {
    SEXP fresh = Rf_allocVector(RAWSXP, (R_xlen_t)bytes);
    R_PreserveObject(fresh);
    if (kept_scratch) R_ReleaseObject(kept_scratch);
    kept_scratch = fresh;
  }
  is_lent = 1;
  return RAW(kept_scratch);
}

static void return_scratch(const void *scratch) {
  if (kept_scratch && scratch == RAW(kept_scratch)) is_lent = 0;
}

void run_job(const sdtw_job *job, SEXP opts) {
  watch w = {list_element(opts, "progress")};
  sdtw_monitor monitor = {look_at_user, &w};
  sdtw_error error = {SDTW_DEVICE_ERROR, ""};
  const sdtw_engine *engine = wants_cuda(opts) ? &sdtw_cuda_engine : &sdtw_cpu_engine;
  const void *mark = vmaxget();
  void *scratch = borrow_scratch(engine->plan(job));
  sdtw_status status = engine->run(job, scratch, &monitor, &error);
  return_scratch(scratch);
  vmaxset(mark);
  if (status == SDTW_STOPPED) raise_interrupt();
  if (status == SDTW_FAILED) raise_failure(&error);
}
