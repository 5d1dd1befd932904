// Peers of `cache_operators`, within the namespace of `peers.cu`.

struct LoadPlain {
    template <typename T> static __device__ T load(const T *source) { return *source; }
};
struct LoadStreaming {
    template <typename T> static __device__ T load(const T *source) { return __ldcs(source); }
};
struct LoadReadOnly {
    template <typename T> static __device__ T load(const T *source) { return __ldg(source); }
};

template <typename Stream, typename Table>
__global__ void look_up(const uint32_t *keys, const uint32_t *table, uint32_t *target, uint32_t words, uint32_t n) {
    uint32_t i = (blockIdx.x * blockDim.x + threadIdx.x) * 4, mask = words - 1;
    if (i + 4 <= n) {
        uint4 key = Stream::load((const uint4 *)&keys[i]);
        *(uint4 *)&target[i] = make_uint4(Table::load(&table[key.x & mask]), Table::load(&table[key.y & mask]),
                                          Table::load(&table[key.z & mask]), Table::load(&table[key.w & mask]));
    } else for (uint32_t k = i; k < n; k++) target[k] = table[keys[k] & mask];
}

template <typename Stream, typename Table>
const char *look_up_by(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    look_up<Stream, Table><<<blocks(size[0], 1024), 256, 0, stream>>>(
        (const uint32_t *)in[0], (const uint32_t *)in[1], (uint32_t *)out[0], size[1], size[0]);
    return launched();
}
