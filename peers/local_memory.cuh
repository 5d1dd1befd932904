// Peers of `local_memory`, within the namespace of `peers.cu`.

__device__ uint32_t fold_counters(const uint32_t *counters, uint32_t step) {
    uint32_t hash = 0;
    #pragma unroll
    for (int k = 0; k < 32; k++) hash = hash * 31 + counters[k * step];
    return hash;
}

__global__ void count_in_local(const uint32_t *source, uint32_t *target, uint32_t n) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint32_t counters[32];
    #pragma unroll
    for (int k = 0; k < 32; k++) counters[k] = 0;
    for (size_t word = 0; word < 32; word++) counters[source[word * n + i]]++;
    target[i] = fold_counters(counters, 1);
}

__global__ void count_in_shared(const uint32_t *source, uint32_t *target, uint32_t n) {
    __shared__ uint32_t all[32 * 128];
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint32_t *counters = all + threadIdx.x;
    #pragma unroll
    for (int k = 0; k < 32; k++) counters[k * 128] = 0;
    #pragma unroll
    for (size_t word = 0; word < 32; word++) counters[source[word * n + i] * 128]++;
    target[i] = fold_counters(counters, 128);
}

const char *local_indexed(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    count_in_local<<<blocks(size[0], 128), 128, 0, stream>>>((const uint32_t *)in[0], (uint32_t *)out[0], size[0]);
    return launched();
}

const char *local_shared(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    count_in_shared<<<blocks(size[0], 128), 128, 0, stream>>>((const uint32_t *)in[0], (uint32_t *)out[0], size[0]);
    return launched();
}
