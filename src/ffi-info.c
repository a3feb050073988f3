/* What was built, what this machine has, and how many threads to use. */
#include "ffi.h"

#include <string.h>

#if defined(__linux__) || defined(__APPLE__)
#include <unistd.h>
#endif

#include "core/threads.h"
#include "cuda/cuda.h"

static SEXP names_of(const sdtw_isa *isas, int n) {
  SEXP names = PROTECT(Rf_allocVector(STRSXP, n));
  for (int i = 0; i < n; i++) SET_STRING_ELT(names, i, Rf_mkChar(sdtw_isa_name(isas[i])));
  UNPROTECT(1);
  return names;
}

SEXP ffi_info(void) {
  sdtw_isa found[3];
  int n = sdtw_isa_usable(found);
  SEXP results[] = {
    PROTECT(names_of(found + n - 1, 1)),
    PROTECT(names_of(found, n)),
    PROTECT(Rf_ScalarLogical(sdtw_has_openmp())),
    PROTECT(Rf_ScalarInteger(sdtw_processors())),
    PROTECT(Rf_ScalarInteger(sdtw_isa_lanes(found[n - 1]))),
#if defined(__VERSION__)
    PROTECT(Rf_mkString(__VERSION__)),
#else
    PROTECT(Rf_mkString("unknown")),
#endif
  };
  const char *const names[] = {"isa", "isas", "openmp", "processors", "lanes", "compiler"};
  SEXP list = named_list(6, names, results);
  UNPROTECT(6);
  return list;
}

SEXP ffi_threads(SEXP n) {
  if (!Rf_isNull(n)) sdtw_threads_set(Rf_asInteger(n));
  return Rf_ScalarInteger(sdtw_threads());
}

/* Bytes of physical memory, NA where the system does not say. */
SEXP ffi_memory(void) {
#if (defined(__linux__) || defined(__APPLE__)) && defined(_SC_PHYS_PAGES)
  return Rf_ScalarReal((double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE));
#else
  return Rf_ScalarReal(NA_REAL);
#endif
}

/* ---- CUDA ---------------------------------------------------------------------------------- */

static const char *built_with(void) {
  switch (sdtw_cuda_built()) {
    case SDTW_CUDA_PRESENT:
      return "cuda";
    case SDTW_CUDA_EMULATED:
      return "emulated";
    case SDTW_CUDA_ABSENT:
      break;
  }
  return "none";
}

/* What configure decided, for the user to read. */
#ifndef SDTW_CUDA_DECISION
#define SDTW_CUDA_DECISION "unknown"
#endif

/* Whether CUDA was built in, and how many devices can be used; if none, why. */
SEXP ffi_cuda(void) {
  sdtw_error error = {SDTW_NO_DEVICE, ""};
  int count = sdtw_cuda_count(&error);
  SEXP results[] = {
      PROTECT(Rf_mkString(built_with())),
      PROTECT(Rf_ScalarInteger(count)),
      PROTECT(Rf_mkString(count > 0 ? "" : error.message)),
      PROTECT(Rf_mkString(count > 0 ? "" : failure_name(&error))),
      PROTECT(Rf_mkString(SDTW_CUDA_DECISION)),
  };
  const char *const names[] = {"built", "count", "reason", "failure", "decision"};
  SEXP list = named_list(5, names, results);
  UNPROTECT(5);
  return list;
}

/* Names, memory and free memory (bytes) of the devices. */
SEXP ffi_devices(void) {
  int count = sdtw_cuda_count(NULL);
  SEXP results[] = {
      PROTECT(Rf_allocVector(STRSXP, count)),
      PROTECT(Rf_allocVector(REALSXP, count)),
      PROTECT(Rf_allocVector(REALSXP, count)),
  };
  for (int i = 0; i < count; i++) {
    sdtw_cuda_device device;
    if (sdtw_cuda_describe(i, &device, NULL)) memset(&device, 0, sizeof device);
    SET_STRING_ELT(results[0], i, Rf_mkChar(device.name));
    REAL(results[1])[i] = device.memory;
    REAL(results[2])[i] = device.free;
  }
  const char *const names[] = {"name", "memory", "free"};
  SEXP list = named_list(3, names, results);
  UNPROTECT(3);
  return list;
}

/* Frees what devices keep between calls, before the library goes. */
SEXP ffi_forget(void) {
  sdtw_cuda_forget();
  return R_NilValue;
}
