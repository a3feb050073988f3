/* CUDA, or its stand-in on the CPU: the one place where the two differ.
 *
 * With SDTW_EMULATE the kernels are compiled by the C++ compiler and run by emulate/cuda.h. All
 * that a kernel has to mind is that a launch goes through SDTW_LAUNCH and that inline assembly has
 * a portable twin.
 */
#ifndef SOFTDTW_CUDA_RUNTIME_CUH
#define SOFTDTW_CUDA_RUNTIME_CUH

#ifdef SDTW_EMULATE
#include "emulate/cuda.h"
#define SDTW_UNROLL
#define SDTW_UNROLL_BY(times)
#else
#include <cuda_runtime.h>
#define SDTW_LAUNCH(kernel, grid, block, ...) kernel<<<(grid), (block)>>>(__VA_ARGS__)
#define SDTW_SHARED(type, name, count) __shared__ type name[count]
#define SDTW_UNROLL _Pragma("unroll")
#define SDTW_PRAGMA(text) _Pragma(#text)
#define SDTW_UNROLL_BY(times) SDTW_PRAGMA(unroll times)
#endif

#define SDTW_DEVICE static __device__ __forceinline__
/* A phase of work on a tile, with registers of its own: the kernel needs as many as its hungriest
 * phase, not as all of them together. State that passes through memory is copied at both ends. */
#define SDTW_PHASE static __device__ __noinline__
#define SDTW_BOTH static inline __host__ __device__

/* What a thread wrote before store_release() another, of any block, reads after a load_acquire()
 * that sees it. What passes between blocks more than once is to be read as volatile. */
#ifdef SDTW_EMULATE
SDTW_DEVICE unsigned load_acquire(const unsigned *at) {
  return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}
SDTW_DEVICE void store_release(unsigned *at, unsigned v) {
  __atomic_store_n(at, v, __ATOMIC_RELEASE);
}
#else
SDTW_DEVICE unsigned load_acquire(const unsigned *at) {
  unsigned v = *(const volatile unsigned *)at;
  __threadfence();
  return v;
}
SDTW_DEVICE void store_release(unsigned *at, unsigned v) {
  __threadfence();
  *(volatile unsigned *)at = v;
}
#endif

/* A number of device memory that no thread of the launch writes. */
#ifdef SDTW_EMULATE
template <class T>
SDTW_DEVICE T constant_at(const T *at) {
  return *at;
}
#else
template <class T>
SDTW_DEVICE T constant_at(const T *at) {
  return __ldg(at);
}
#endif

/* a b + c, maximum and minimum: one instruction each on a GPU, where the CPU's compiler would call
 * functions. */
#ifdef SDTW_EMULATE
template <class T>
SDTW_DEVICE T fused(T a, T b, T c) {
  return a * b + c;
}
template <class T>
SDTW_DEVICE T greater(T a, T b) {
  return a > b ? a : b;
}
template <class T>
SDTW_DEVICE T lesser(T a, T b) {
  return a < b ? a : b;
}
#else
SDTW_DEVICE float fused(float a, float b, float c) { return fmaf(a, b, c); }
SDTW_DEVICE double fused(double a, double b, double c) { return fma(a, b, c); }
SDTW_DEVICE float greater(float a, float b) { return fmaxf(a, b); }
SDTW_DEVICE double greater(double a, double b) { return fmax(a, b); }
SDTW_DEVICE float lesser(float a, float b) { return fminf(a, b); }
SDTW_DEVICE double lesser(double a, double b) { return fmin(a, b); }
#endif

#endif
