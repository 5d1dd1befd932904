#include <cuda_pipeline.h>

extern "C" __global__ void copy_not_awaited(const float *source, float *target, unsigned n) {
    __shared__ float tile[256];
    unsigned thread = threadIdx.x, first = blockIdx.x * 256;
    unsigned count = n - first < 256 ? n - first : 256;
    if (thread < count) __pipeline_memcpy_async(&tile[thread], &source[first + thread], 4);
    // learn: your code
    __pipeline_commit();
    __pipeline_wait_prior(0);
    // learn: instead
    //| // TODO: what does a thread find in the tile?
    // learn: end
    __syncthreads();
    if (thread < count) target[first + thread] = tile[count - 1 - thread];
}
