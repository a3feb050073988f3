/* Kernels that are broken on purpose, each in one way. tests/cuda/run.sh runs them one by one: the
 * emulation, or the sanitizer that it names, must catch every one of them; those that are right
 * must pass. A check that has never been seen to fail proves nothing.
 *
 * usage: broken NAME      exit status 0: nothing noticed
 *        broken --list    NAME and who must catch it, a line each
 */
#include <stdio.h>
#include <string.h>

#include "cuda/runtime.cuh"

enum { THREADS = 64 };
static const unsigned every_lane = 0xffffffffu;

/* ---- kernels ------------------------------------------------------------------------------- */

__global__ void right(int *out) {
  SDTW_SHARED(int, s, THREADS);
  const int t = (int)threadIdx.x;
  s[t] = t;
  __syncthreads();
  out[t] = __shfl_sync(every_lane, s[THREADS - 1 - t], t);
}

__global__ void right_in_a_warp(int *out) {
  SDTW_SHARED(int, s, THREADS);
  const int t = (int)threadIdx.x;
  s[t] = t;
  __syncwarp();
  out[t] = s[t ^ 1];
}

__global__ void no_block_barrier(int *out) {
  SDTW_SHARED(int, s, THREADS);
  const int t = (int)threadIdx.x;
  s[t] = t;
  out[t] = s[(t + 1) % THREADS];
}

__global__ void no_warp_barrier(int *out) {
  SDTW_SHARED(int, s, THREADS);
  const int t = (int)threadIdx.x;
  s[t] = t;
  out[t] = s[t ^ 1];
}

/* A shuffle lets lanes meet but orders no memory. */
__global__ void shuffle_for_a_barrier(int *out) {
  SDTW_SHARED(int, s, THREADS);
  const int t = (int)threadIdx.x;
  s[t] = t;
  const int from = __shfl_sync(every_lane, t ^ 1, t);
  out[t] = s[from];
}

__global__ void warp_barrier_for_a_block(int *out) {
  SDTW_SHARED(int, s, THREADS);
  const int t = (int)threadIdx.x;
  s[t] = t;
  __syncwarp();
  out[t] = s[THREADS - 1 - t];
}

__global__ void race_between_blocks(int *out) {
  if (threadIdx.x == 0) out[0] += 1;
}

__global__ void past_shared_memory(int *out) {
  SDTW_SHARED(int, s, THREADS);
  const int t = (int)threadIdx.x;
  s[t + 1] = t;
  __syncthreads();
  out[t] = s[t];
}

__global__ void past_device_memory(int *out) { out[threadIdx.x + 1] = 3; }

__global__ void different_barriers(int *out) {
  if (threadIdx.x < 32) {
    __syncthreads();
    out[0] = 1;
  } else {
    __syncthreads();
    out[1] = 1;
  }
}

__global__ void mask_with_leavers(int *out) {
  const int t = (int)threadIdx.x;
  if (t >= 8) return;
  out[t] = __shfl_sync(every_lane, t, 0);
}

__global__ void not_in_its_mask(int *out) {
  const int t = (int)threadIdx.x;
  out[t] = __shfl_sync(0x0000ffffu, t, 0);
}

__global__ void reads_outside_its_mask(int *out) {
  const int t = (int)threadIdx.x;
  if (t < 16) out[t] = __shfl_sync(0x0000ffffu, t, 20);
}

__global__ void deadlock(int *out) {
  const int t = (int)threadIdx.x;
  if (t < 8) {
    out[t] = __shfl_sync(every_lane, t, 0);
  } else {
    __syncthreads();
  }
}

/* Out of shared memory that nobody has written comes NaN. */
__global__ void reads_nothing(float *out) {
  SDTW_SHARED(float, s, THREADS);
  const int t = (int)threadIdx.x;
  if (t > 0) s[t] = 1;
  __syncthreads();
  out[t] = s[t ^ 1];
}

/* ---- running ------------------------------------------------------------------------------- */

typedef struct {
  const char *name, *catcher;
  void (*kernel)(int *);
  unsigned blocks;
} example;

static const example examples[] = {
    {"right", "nobody", right, 1},
    {"right_in_a_warp", "nobody", right_in_a_warp, 1},
    {"no_block_barrier", "thread", no_block_barrier, 1},
    {"no_warp_barrier", "thread", no_warp_barrier, 1},
    {"shuffle_for_a_barrier", "thread", shuffle_for_a_barrier, 1},
    {"warp_barrier_for_a_block", "thread", warp_barrier_for_a_block, 1},
    {"race_between_blocks", "thread", race_between_blocks, 4},
    {"past_shared_memory", "address", past_shared_memory, 1},
    {"past_device_memory", "always", past_device_memory, 1},
    {"different_barriers", "always", different_barriers, 1},
    {"mask_with_leavers", "always", mask_with_leavers, 1},
    {"not_in_its_mask", "always", not_in_its_mask, 1},
    {"reads_outside_its_mask", "always", reads_outside_its_mask, 1},
    {"deadlock", "always", deadlock, 1},
};
enum { EXAMPLES = sizeof examples / sizeof *examples };

static int finish(const char *name) {
  cudaError_t code = cudaDeviceSynchronize();
  if (code == cudaSuccess) return 0;
  printf("%s: caught: %s\n", name, cudaGetErrorString(code));
  return 1;
}

static int run(const example *e) {
  void *out;
  void (*kernel)(int *) = e->kernel;
  if (cudaMalloc(&out, THREADS * sizeof(int)) != cudaSuccess) return 2;
  cudaMemset(out, 0, THREADS * sizeof(int));
  SDTW_LAUNCH(kernel, e->blocks, (unsigned)THREADS, (int *)out);
  int caught = finish(e->name);
  cudaDeviceReset();
  return caught;
}

static int run_reads_nothing() {
  float host[THREADS];
  void *out;
  if (cudaMalloc(&out, sizeof host) != cudaSuccess) return 2;
  SDTW_LAUNCH(reads_nothing, 1u, (unsigned)THREADS, (float *)out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(out);
  if (host[1] == host[1]) return 0;
  printf("reads_nothing: caught: NaN\n");
  return 1;
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "--list";
  if (strcmp(name, "reads_nothing") == 0) return run_reads_nothing();
  for (int i = 0; i < EXAMPLES; i++) {
    if (strcmp(name, examples[i].name) == 0) return run(&examples[i]);
    if (strcmp(name, "--list") == 0) printf("%s %s\n", examples[i].name, examples[i].catcher);
  }
  if (strcmp(name, "--list") == 0) printf("reads_nothing always\n");
  return strcmp(name, "--list") == 0 ? 0 : 2;
}
