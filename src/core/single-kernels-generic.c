/* kernels-generic.c once more, for float; see precision.h. */
#define SDTW_SINGLE
#include "kernels-generic.c"
