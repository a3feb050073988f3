/* The kernels for x86-64 processors with AVX-512; see kernels-template.h. */
#if defined(__x86_64__)
#include "vec-avx512.h"
#define SDTW_TABLE sdtw_kernels_avx512
#include "kernels-template.h"
#else
typedef int sdtw_not_x86;
#endif
