/* What was built, what this machine has, and how many threads to use. */
#include "ffi.h"

#if defined(__linux__) || defined(__APPLE__)
#include <unistd.h>
#endif

#include "core/threads.h"

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
