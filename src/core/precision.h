/* One source, two precisions. Files that include this header are compiled for double as they are
 * and for float with SDTW_SINGLE defined (see single.c); names that both objects export carry a
 * suffix. The interface stays in double: only what happens between loading a series and reading off
 * a result is in sdtw_real. */
#ifndef SOFTDTW_CORE_PRECISION_H
#define SOFTDTW_CORE_PRECISION_H

#include <float.h>

/* The kernels are inlined into everything; where each variable lives at each instruction would make
 * the debugging information ten times as large as the code. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-var-tracking")
#endif

#ifdef SDTW_SINGLE
typedef float sdtw_real;
#define SDTW_REAL_MAX FLT_MAX
#define SDTW_NAMED(name) name##_f32
#else
typedef double sdtw_real;
#define SDTW_REAL_MAX DBL_MAX
#define SDTW_NAMED(name) name##_f64
#endif

/* The exponent of what cannot be reached. Steps away from it leave it where it is. */
#define SDTW_UNREACHABLE (-SDTW_REAL_MAX / 2)

#define sdtw_kernels_generic SDTW_NAMED(sdtw_kernels_generic)
#define sdtw_kernels_avx2 SDTW_NAMED(sdtw_kernels_avx2)
#define sdtw_kernels_avx512 SDTW_NAMED(sdtw_kernels_avx512)
#define sdtw_sweep_init SDTW_NAMED(sdtw_sweep_init)
#define sdtw_sweep_set_unit SDTW_NAMED(sdtw_sweep_set_unit)
#define sdtw_sweep_bytes SDTW_NAMED(sdtw_sweep_bytes)
#define sdtw_sweep_set_reach SDTW_NAMED(sdtw_sweep_set_reach)
#define sdtw_sweep_load SDTW_NAMED(sdtw_sweep_load)
#define sdtw_sweep_load_cost SDTW_NAMED(sdtw_sweep_load_cost)
#define sdtw_sweep_run SDTW_NAMED(sdtw_sweep_run)
#define sdtw_sweep_add_x SDTW_NAMED(sdtw_sweep_add_x)
#define sdtw_sweep_add_y SDTW_NAMED(sdtw_sweep_add_y)
#define sdtw_sweep_add_moments SDTW_NAMED(sdtw_sweep_add_moments)
#define sdtw_batch_plan SDTW_NAMED(sdtw_batch_plan)
#define sdtw_batch_run SDTW_NAMED(sdtw_batch_run)
#define sdtw_recurrence_plan_in SDTW_NAMED(sdtw_recurrence_plan)
#define sdtw_recurrence_run_in SDTW_NAMED(sdtw_recurrence_run)

#endif
