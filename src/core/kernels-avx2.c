/* The kernels for x86-64 processors with AVX2; see kernels-template.h. */
#if defined(__x86_64__)
#include "vec-avx2.h"
#define SDTW_TABLE sdtw_kernels_avx2
#include "kernels-template.h"
#else
typedef int sdtw_not_x86;
#endif
