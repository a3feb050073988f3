/* Which kernels to run: asked of the processor, newest last. This file is compiled without any
 * instruction-set attribute, so that it runs everywhere. */
#include <string.h>

#include "kernels.h"

int sdtw_kernels_usable(const sdtw_kernels *found[3]) {
  int n = 0;
  found[n++] = &sdtw_kernels_generic;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    found[n++] = &sdtw_kernels_avx2;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("fma"))
    found[n++] = &sdtw_kernels_avx512;
#endif
  return n;
}

const sdtw_kernels *sdtw_kernels_find(const char *name) {
  const sdtw_kernels *found[3];
  int n = sdtw_kernels_usable(found);
  if (!name) return found[n - 1];
  for (int i = 0; i < n; i++) {
    if (strcmp(found[i]->name, name) == 0) return found[i];
  }
  return NULL;
}
