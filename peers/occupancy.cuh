// Peers of `occupancy`, within the namespace of `peers.cu`.

template <int ITEMS>
__global__ void copy_rounds(const float *source, float *target, uint32_t n) {
    const float4 *from = (const float4 *)source;
    float4 *to = (float4 *)target;
    uint32_t tile_length = blockDim.x * ITEMS, tiles = n / 4 / tile_length;
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        uint32_t first = tile * tile_length + threadIdx.x;
        float4 values[ITEMS];
        #pragma unroll
        for (int item = 0; item < ITEMS; item++) values[item] = from[first + item * blockDim.x];
        #pragma unroll
        for (int item = 0; item < ITEMS; item++) to[first + item * blockDim.x] = values[item];
    }
    if (blockIdx.x == 0) for (uint32_t i = 4 * tiles * tile_length + threadIdx.x; i < n; i += blockDim.x) target[i] = source[i];
}

template <int ITEMS>
const char *occupancy_rounds(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    int multiprocessors = 0;
    TRY(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    copy_rounds<ITEMS><<<multiprocessors * (uint32_t)size[1], (uint32_t)size[2], 0, stream>>>(
        (const float *)in[0], (float *)out[0], size[0]);
    return launched();
}
