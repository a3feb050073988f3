/* recurrence.c once more, for float; see precision.h. */
#define SDTW_SINGLE
#include "recurrence.c"
