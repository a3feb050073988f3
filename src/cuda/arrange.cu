/* Puts the values of a set as the kernels read them: in their precision, a dimension's time steps
 * together. Where the job wants it, relative to a centre and in a unit common to all series (see
 * device.cu).
 *
 * Per number: 8 bytes read, 8 or 4 written, two divisions of whole numbers of 64 bits (some 100
 * instructions) and at most 2 of double. Neighbours write neighbours and read d numbers apart, out
 * of lines that the caches hold until each of their numbers has been asked for. Registers (nvcc
 * 11.8, sm_90): 28. Limit: the divisions and memory alike; the copy from the host before it takes
 * longer than either. */
#include "launch.cuh"

enum { THREADS = 256 };

/* A block takes a series, its threads the numbers of it. */
template <class T>
__global__ void __launch_bounds__(THREADS)
    arrange_kernel(const double *from, const double *frame, T *to, const series_place *place,
                   size_t series, int d) {
  for (size_t s = blockIdx.x; s < series; s += gridDim.x) {
    const size_t start = place[s].start, length = (size_t)place[s].length;
    for (size_t i = threadIdx.x; i < length * (size_t)d; i += blockDim.x) {
      const size_t k = i / length, t = i % length;
      const double value = from[start + t * (size_t)d + k];
      to[start + i] = (T)(frame ? (value - frame[k]) * frame[d] : value);
    }
  }
}

/* ---- launchers ----------------------------------------------------------------------------- */

template <class T>
cudaError_t launch_arrange(const double *from, const double *frame, T *to,
                           const series_place *place, size_t series, int d) {
  const unsigned most = 65535, blocks = series < most ? (unsigned)series : most;
  void (*kernel)(const double *, const double *, T *, const series_place *, size_t,
                 int) = arrange_kernel<T>;
  SDTW_LAUNCH(kernel, blocks, (unsigned)THREADS, from, frame, to, place, series, d);
  return cudaGetLastError();
}

template cudaError_t launch_arrange(const double *, const double *, float *, const series_place *,
                                    size_t, int);
template cudaError_t launch_arrange(const double *, const double *, double *, const series_place *,
                                    size_t, int);
