/* sweep.c once more, for float; see precision.h. */
#define SDTW_SINGLE
#include "sweep.c"
