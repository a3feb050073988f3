/* The kernels for any processor; see kernels-template.h. */
#include "vec-generic.h"
#define SDTW_ISA generic
#include "kernels-template.h"
