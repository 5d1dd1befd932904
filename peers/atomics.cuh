// Peers of `atomics`, within the namespace of `peers.cu`.

__global__ void add_in_device_memory(const uint32_t *source, uint32_t *target, uint32_t addresses, uint32_t n) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&target[i & (addresses - 1)], source[i] % 16);
}

const char *atomics_global(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    add_in_device_memory<<<blocks(size[0], 256), 256, 0, stream>>>((const uint32_t *)in[0], (uint32_t *)out[0], size[1], size[0]);
    return launched();
}

__device__ uint32_t partial_sums[8 * 132], tickets = 0;

__device__ uint32_t sum_of_block(uint32_t value, uint32_t *words) {
    auto of_warp = [](uint32_t sum) {
        for (int delta = 16; delta > 0; delta /= 2) sum += __shfl_down_sync(~0u, sum, delta);
        return sum;
    };
    value = of_warp(value);
    if (threadIdx.x % 32 == 0) words[threadIdx.x / 32] = value;
    __syncthreads();
    return threadIdx.x < 32 ? of_warp(threadIdx.x < 8 ? words[threadIdx.x] : 0) : 0;
}

// The block with the last ticket adds the sums of all: as our `sum_last_block`.
__global__ void sum_by_last_block(const uint32_t *source, uint32_t *target, uint32_t n) {
    __shared__ uint32_t words[8], is_last;
    uint32_t sum = 0;
    for (uint32_t i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += source[i];
    sum = sum_of_block(sum, words);
    if (threadIdx.x == 0) {
        partial_sums[blockIdx.x] = sum;
        __threadfence();
        is_last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!is_last) return;
    sum = 0;
    for (uint32_t block = threadIdx.x; block < gridDim.x; block += 256) sum += partial_sums[block];
    sum = sum_of_block(sum, words);
    if (threadIdx.x == 0) *target = sum;
}

const char *atomics_sum_last_block(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    uint32_t wanted = blocks(size[0], 256), grid = wanted < 8 * 132 ? wanted : 8 * 132;
    sum_by_last_block<<<grid, 256, 0, stream>>>((const uint32_t *)in[0], (uint32_t *)out[4], size[0]);
    return launched();
}
