/* Registration: every routine R may call, and nothing else, is visible. */
#define R_NO_REMAP
#include <R.h>
#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>
#include <Rinternals.h>

#include "core/threads.h"

extern SEXP ffi_alignment(SEXP, SEXP, SEXP);
extern SEXP ffi_barycenter(SEXP, SEXP, SEXP, SEXP);
extern SEXP ffi_cost(SEXP, SEXP);
extern SEXP ffi_cuda(void);
extern SEXP ffi_devices(void);
extern SEXP ffi_dist(SEXP, SEXP, SEXP);
extern SEXP ffi_forget(void);
extern SEXP ffi_grad(SEXP, SEXP, SEXP, SEXP, SEXP);
extern SEXP ffi_info(void);
extern SEXP ffi_knn(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
extern SEXP ffi_matrix(SEXP, SEXP, SEXP, SEXP, SEXP);
extern SEXP ffi_memory(void);
extern SEXP ffi_pack(SEXP);
extern SEXP ffi_range(SEXP, SEXP);
extern SEXP ffi_recurrence(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
extern SEXP ffi_recurrence_grad(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
extern SEXP ffi_softdtw(SEXP, SEXP, SEXP);
extern SEXP ffi_spread(SEXP, SEXP, SEXP, SEXP);
extern SEXP ffi_threads(SEXP);

/* Through void (*)(void), which every function pointer may be cast to without a warning. */
#define ROUTINE(name, arguments) \
  { #name, (DL_FUNC)(void (*)(void)) & name, arguments }

static const R_CallMethodDef routines[] = {
    ROUTINE(ffi_alignment, 3),  ROUTINE(ffi_barycenter, 4),
    ROUTINE(ffi_cost, 2),       ROUTINE(ffi_cuda, 0),
    ROUTINE(ffi_devices, 0),    ROUTINE(ffi_dist, 3),
    ROUTINE(ffi_forget, 0),     ROUTINE(ffi_grad, 5),
    ROUTINE(ffi_info, 0),       ROUTINE(ffi_knn, 6),
    ROUTINE(ffi_matrix, 5),     ROUTINE(ffi_memory, 0),
    ROUTINE(ffi_pack, 1),       ROUTINE(ffi_range, 2),
    ROUTINE(ffi_recurrence, 6), ROUTINE(ffi_recurrence_grad, 9),
    ROUTINE(ffi_softdtw, 3),    ROUTINE(ffi_spread, 4),
    ROUTINE(ffi_threads, 1),    {NULL, NULL, 0},
};

void attribute_visible R_init_softdtw(DllInfo *dll) {
  R_registerRoutines(dll, NULL, routines, NULL, NULL);
  R_useDynamicSymbols(dll, FALSE);
  R_forceSymbols(dll, TRUE);
  sdtw_threads_init();
}
