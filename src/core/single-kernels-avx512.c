/* kernels-avx512.c once more, for float; see precision.h. */
#define SDTW_SINGLE
#include "kernels-avx512.c"
