// Peers of `memory_hierarchy`, within the namespace of `peers.cu`.

__global__ void follow_chain(const uint32_t *chain, uint32_t *end, uint32_t words, uint32_t accesses) {
    __shared__ uint32_t copy[8192];
    for (uint32_t word = threadIdx.x; word < words; word += blockDim.x) copy[word] = chain[word];
    __syncthreads();
    if (threadIdx.x > 0) return;
    uint32_t at = 0;
    for (uint32_t step = 0; step < accesses; step++) at = copy[at];
    *end = at;
}

const char *hierarchy_chase(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    if (size[0] > 8192) return "not run: shared memory is for at most 8192 words here";
    follow_chain<<<1, 1024, 0, stream>>>((const uint32_t *)in[0], (uint32_t *)out[0], size[0], size[1]);
    return launched();
}

__global__ void read_round(const uint4 *data, uint32_t *sums, uint32_t vectors, uint32_t accesses) {
    uint32_t step = 1024 % vectors, sum = 0;
    uint32_t at = ((uint32_t)((uint64_t)blockIdx.x * vectors / gridDim.x) + threadIdx.x % vectors) % vectors;
    for (uint32_t round = 0; round < accesses / 1024; round++) {
        uint4 values[4];
        #pragma unroll
        for (int load = 0; load < 4; load++) {
            values[load] = data[at];
            at += step;
            at -= at >= vectors ? vectors : 0;
        }
        #pragma unroll
        for (int load = 0; load < 4; load++) sum ^= values[load].x ^ values[load].y ^ values[load].z ^ values[load].w;
    }
    sums[blockIdx.x * 1024 + threadIdx.x] = sum;
}

const char *hierarchy_read(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    read_round<<<(uint32_t)size[2], 1024, 0, stream>>>(
        (const uint4 *)in[0], (uint32_t *)out[2], (uint32_t)((size[0] + 3) / 4), size[1]);
    return launched();
}
