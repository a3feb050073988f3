/* A stand-in for CUDA on the CPU: what this package's kernels and host code need of it, no more.
 *
 * Every thread of a block is a fiber (fiber.h). __syncthreads, __syncwarp, shuffles and votes hand
 * over to the scheduler (emulate.cu), which runs the threads of a few blocks in turn, in an order
 * that the environment chooses, and stops the launch when it sees what a GPU would leave
 * undefined: a barrier that not all threads reach, a mask that names a lane that has left, a lane
 * read outside the mask, a deadlock. The fault then is the error that CUDA calls report.
 *
 * Shared memory starts as NaN, device memory as 0xCD bytes between guards, both of the heap's own,
 * so that AddressSanitizer sees their bounds. Under ThreadSanitizer a fiber is a thread to it:
 * only barriers order memory, __syncthreads for the block and __syncwarp for the lanes of its mask;
 * shuffles and votes do not, and neither does the scheduling itself.
 *
 * Environment, read at each launch or call:
 *   SOFTDTW_EMULATE_ORDER    forward, reverse or random: of threads in a block and of blocks
 *   SOFTDTW_EMULATE_SEED     for random
 *   SOFTDTW_EMULATE_DEVICES  number of devices, 1
 *   SOFTDTW_EMULATE_MEMORY   bytes of each device's memory, 1e9
 *   SOFTDTW_EMULATE_FAIL     number of the launch, from now on, that fails
 * Not covered: the arithmetic of device functions, fused multiply-adds, the order in which memory
 * becomes visible, and time.
 */
#ifndef SOFTDTW_CUDA_EMULATE_CUDA_H
#define SOFTDTW_CUDA_EMULATE_CUDA_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)

struct uint3 {
  unsigned x, y, z;
};

/* ---- threads ------------------------------------------------------------------------------- */

namespace emulate {

enum warp_op { SYNC, SHUFFLE, VOTE };

struct block;
struct thread;
extern thread *current;

uint3 thread_index();
uint3 block_index();
uint3 block_size();
uint3 grid_size();

void sync_threads(int line);
/* Exchanges 8 bytes: each lane gives `in` and receives that of lane `source`; votes collect bit 0
 * of all. */
uint64_t warp_exchange(unsigned mask, warp_op op, uint64_t in, int source, int line);
int lane();

/* Memory of the block, the same for each of its threads at one place of the program. */
void *shared(const void *place, size_t bytes);

typedef void (*body)(void *);
void launch(const char *name, unsigned grid, unsigned block, body run, void *closure);

template <class Body>
void run_closure(void *closure) {
  (*static_cast<Body *>(closure))();
}

template <class T>
T shuffle(unsigned mask, T v, int source, int line) {
  static_assert(sizeof(T) <= sizeof(uint64_t), "a shuffle exchanges up to 8 bytes");
  uint64_t bits = 0;
  memcpy(&bits, &v, sizeof v);
  bits = warp_exchange(mask, SHUFFLE, bits, source, line);
  memcpy(&v, &bits, sizeof v);
  return v;
}

inline int lane_above(int delta) { return lane() >= delta ? lane() - delta : lane(); }
inline int lane_below(int delta) { return lane() + delta < 32 ? lane() + delta : lane(); }

}  // namespace emulate

#define threadIdx (emulate::thread_index())
#define blockIdx (emulate::block_index())
#define blockDim (emulate::block_size())
#define gridDim (emulate::grid_size())

#define __syncthreads() emulate::sync_threads(__LINE__)
#define __syncwarp() ((void)emulate::warp_exchange(0xffffffffu, emulate::SYNC, 0, 0, __LINE__))
#define __shfl_sync(mask, v, source) emulate::shuffle(mask, v, (source)&31, __LINE__)
#define __shfl_up_sync(mask, v, delta) \
  emulate::shuffle(mask, v, emulate::lane_above(delta), __LINE__)
#define __shfl_down_sync(mask, v, delta) \
  emulate::shuffle(mask, v, emulate::lane_below(delta), __LINE__)
#define __ballot_sync(mask, v) \
  ((unsigned)emulate::warp_exchange(mask, emulate::VOTE, (v) != 0, 0, __LINE__))

#define SDTW_SHARED(type, name, count) \
  static const char name##_place = 0;  \
  type *const name = (type *)emulate::shared(&name##_place, (count) * sizeof(type))

#define SDTW_LAUNCH(kernel, grid, block, ...)                                                     \
  do {                                                                                            \
    auto closure = [&] { kernel(__VA_ARGS__); };                                                  \
    emulate::launch(#kernel, (grid), (block), emulate::run_closure<decltype(closure)>, &closure); \
  } while (0)

/* ---- device functions ---------------------------------------------------------------------- */

template <class T>
T atomicAdd(T *at, T v) {
  return __atomic_fetch_add(at, v, __ATOMIC_RELAXED);
}

inline uint32_t __float_as_uint(float v) {
  uint32_t b;
  memcpy(&b, &v, sizeof b);
  return b;
}
inline float __uint_as_float(uint32_t b) {
  float v;
  memcpy(&v, &b, sizeof v);
  return v;
}
inline long long __double_as_longlong(double v) {
  long long b;
  memcpy(&b, &v, sizeof b);
  return b;
}
inline double __longlong_as_double(long long b) {
  double v;
  memcpy(&v, &b, sizeof v);
  return v;
}
inline float __fmul_rn(float a, float b) { return a * b; }
inline double __dmul_rn(double a, double b) { return a * b; }

/* ---- the runtime --------------------------------------------------------------------------- */

typedef enum {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchFailure = 719,
} cudaError_t;

enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };

enum cudaDeviceAttr { cudaDevAttrClockRate, cudaDevAttrMultiProcessorCount };

struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem;
  int multiProcessorCount, major, minor;
};

const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaMemGetInfo(size_t *free, size_t *total);
cudaError_t cudaMalloc(void **at, size_t bytes);
cudaError_t cudaFree(void *at);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemset(void *at, int byte, size_t bytes);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();

template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel, int, size_t) {
  *blocks = 1;
  return cudaSuccess;
}

#endif
