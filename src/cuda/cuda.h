/* CUDA as the glue sees it; cuda-stub.c stands in for it in a build without. */
#ifndef SOFTDTW_CUDA_CUDA_H
#define SOFTDTW_CUDA_CUDA_H

#include "core/recurrence.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const sdtw_engine sdtw_cuda_engine;
extern const sdtw_recurrence_engine sdtw_cuda_recurrence_engine;

typedef enum { SDTW_CUDA_ABSENT, SDTW_CUDA_PRESENT, SDTW_CUDA_EMULATED } sdtw_cuda_kind;

typedef struct {
  char name[256];
  double memory, free; /* bytes */
  int multiprocessors, kilohertz, major, minor;
} sdtw_cuda_device;

/* What jobs have used since the last look: seconds from the launch of kernels until the host found
 * them done, and bytes of device memory at most. */
typedef struct {
  double kernel_seconds, peak_bytes;
} sdtw_cuda_record;

sdtw_cuda_kind sdtw_cuda_built(void);

/* Usable devices; 0 with a reason in `error` (which may be NULL) when there are none. */
int sdtw_cuda_count(sdtw_error *error);
sdtw_status sdtw_cuda_describe(int device, sdtw_cuda_device *description, sdtw_error *error);

sdtw_cuda_record sdtw_cuda_take_record(void);

/* Gives back the sets of series that are kept on devices between jobs. */
void sdtw_cuda_forget(void);

#ifdef __cplusplus
}
#endif

#endif
