// Peers of `bus_utilization`, within the namespace of `peers.cu`.

// A random word of the 32nd of the array that belongs to the thread's lane.
__device__ uint32_t random_word(uint32_t i, uint32_t n) {
    uint32_t rows = (n + 31) / 32, bits = i * 0x9E3779B9;
    bits = (bits ^ bits >> 16) * 0x85EBCA6B;
    bits ^= bits >> 13;
    return (i % 32 * rows + bits % rows) % n;
}

template <bool IN_L1>
__global__ void copy_random_words(const float *source, float *target, uint32_t n) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float *word = &source[random_word(i, n)];
    target[i] = IN_L1 ? __ldca(word) : __ldcg(word);
}

template <bool IN_L1>
const char *bus_random(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    copy_random_words<IN_L1><<<blocks(size[0], 256), 256, 0, stream>>>((const float *)in[0], (float *)out[4], size[0]);
    return launched();
}
