/* Weighted sums of the results of many pairs.
 *
 * Pairs are summed in blocks of a number that the job alone decides, in the order of the pairs; the
 * host adds the blocks in theirs. So neither chunks nor devices change a bit of a sum. One thread a
 * number and block; neighbours read neighbours.
 *
 * Per number summed: 8 or 4 bytes read, once, and a weight that all threads of a warp share; one
 * fused multiplication and addition in double. Registers (nvcc 11.8, sm_90): 40 in double, 32 in
 * single. Limit: memory; where a job has few numbers and blocks, how long one thread takes for its
 * block.
 */
#include "launch.cuh"

enum { THREADS = 128 };

template <class T>
__global__ void __launch_bounds__(THREADS)
    sum_kernel(const T *out, const double *weights, size_t count, size_t block, size_t record,
               double *sums) {
  const size_t blocks = (count + block - 1) / block, all = blocks * record;
  size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  for (; at < all; at += (size_t)gridDim.x * blockDim.x) {
    const size_t first = at / record * block, i = at % record;
    const size_t end = first + block < count ? first + block : count;
    double sum = 0;
    for (size_t p = first; p < end; p++) sum = fused(weights[p], (double)out[p * record + i], sum);
    sums[at] = sum;
  }
}

/* ---- launchers ----------------------------------------------------------------------------- */

template <class T>
cudaError_t launch_sum(const T *out, const double *weights, size_t count, size_t block,
                       size_t record, double *sums) {
  const size_t all = (count + block - 1) / block * record, most = 4096;
  const size_t wanted = (all + THREADS - 1) / THREADS;
  void (*kernel)(const T *, const double *, size_t, size_t, size_t, double *) = sum_kernel<T>;
  if (all == 0) return cudaSuccess;
  SDTW_LAUNCH(kernel, (unsigned)(wanted < most ? wanted : most), (unsigned)THREADS, out, weights,
              count, block, record, sums);
  return cudaGetLastError();
}

template cudaError_t launch_sum(const float *, const double *, size_t, size_t, size_t, double *);
template cudaError_t launch_sum(const double *, const double *, size_t, size_t, size_t, double *);
