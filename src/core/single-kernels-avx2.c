/* kernels-avx2.c once more, for float; see precision.h. */
#define SDTW_SINGLE
#include "kernels-avx2.c"
