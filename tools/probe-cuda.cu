// Compiled and linked by configure: can this nvcc, with this host compiler, build for this package?
#include <cuda_runtime.h>

__global__ void probe_kernel(float *at) { at[threadIdx.x] += 1.0f; }

int main() {
  int devices = 0;
  float *at = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && cudaMalloc((void **)&at, 128) == cudaSuccess)
    probe_kernel<<<1, 32>>>(at);
  return 0;
}
