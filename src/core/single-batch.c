/* batch.c once more, for float; see precision.h. */
#define SDTW_SINGLE
#include "batch.c"
