/* The kernels for any processor; see kernels-template.h. */
#include "vec-generic.h"
#define SDTW_TABLE sdtw_kernels_generic
#include "kernels-template.h"
