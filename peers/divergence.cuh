// Peers of `divergence`, within the namespace of `peers.cu`.

__device__ uint32_t path_work(uint32_t value, uint32_t kind) {
    uint32_t factor = 8 * kind + 5;
    #pragma unroll
    for (int step = 0; step < 64; step++) value = value * factor + kind + 1;
    return value;
}

__global__ void take_paths(const uint32_t *values, const uint32_t *kinds, uint32_t *target, uint32_t paths, uint32_t n) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint32_t value = values[i], kind = kinds[i], result = value;
    for (uint32_t path = 0; path < paths; path++)
        if (kind == path) {
            uint32_t own = path;
            asm volatile("" : "+r"(own));
            result = path_work(value, own);
        }
    target[i] = result;
}

// Input 0 has kinds in a mixed order, input 2 sorted ones; kinds follow values.
template <int INPUT, int OUTPUT>
const char *divergence_paths(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    take_paths<<<blocks(size[0], 256), 256, 0, stream>>>(
        (const uint32_t *)in[INPUT], (const uint32_t *)in[INPUT + 1], (uint32_t *)out[OUTPUT], size[1], size[0]);
    return launched();
}
