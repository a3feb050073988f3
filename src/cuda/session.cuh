/* What device.cu offers to whoever works on a device: errors, memory and the clock. */
#ifndef SOFTDTW_CUDA_SESSION_CUH
#define SOFTDTW_CUDA_SESSION_CUH

#include "device.h"
#include "runtime.cuh"

/* Both fill in `error` and say SDTW_FAILED. */
sdtw_status failed(sdtw_error *error, sdtw_failure kind, const char *text);
sdtw_status cuda_failed(sdtw_error *error, cudaError_t code, const char *action);

#define CHECK(call, action)                                                 \
  do {                                                                      \
    cudaError_t checked = (call);                                           \
    if (checked != cudaSuccess) return cuda_failed(error, checked, action); \
  } while (0)

/* Takes the device with the buffers that its last job left; ceiling: bytes to use at most, 0 for as
 * many as are free. find_room() then says in s->room how many bytes the buffers may take. */
sdtw_status take_device(sdtw_cuda_session *s, int device, double ceiling, sdtw_error *error);
sdtw_status find_room(sdtw_cuda_session *s, sdtw_error *error);

/* A buffer of at least so many bytes; what was in it is lost when it grows. */
sdtw_status reserve(sdtw_cuda_session *s, int which, size_t bytes, sdtw_error *error);
sdtw_status send(sdtw_cuda_session *s, int which, const void *data, size_t bytes,
                 sdtw_error *error);

/* Starts the clock, and waits for the kernels launched since. */
void start_clock(sdtw_cuda_session *s);
sdtw_status finish_kernels(sdtw_cuda_session *s, const char *action, sdtw_error *error);

#endif
