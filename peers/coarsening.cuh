// Peers of `coarsening`, within the namespace of `peers.cu`.

template <int ITEMS, bool CONSECUTIVE>
__global__ void scale_items(const float *source, float *target, uint32_t n) {
    uint32_t first = CONSECUTIVE ? (blockIdx.x * 256 + threadIdx.x) * ITEMS : blockIdx.x * 256 * ITEMS + threadIdx.x;
    uint32_t step = CONSECUTIVE ? 1 : 256;
    if (first + (ITEMS - 1) * step < n) {
        float values[ITEMS];
        #pragma unroll
        for (int item = 0; item < ITEMS; item++) values[item] = source[first + item * step];
        #pragma unroll
        for (int item = 0; item < ITEMS; item++) target[first + item * step] = 4.0f * values[item];
    } else for (uint32_t i = first; i < n; i += step) target[i] = 4.0f * source[i];
}

template <int ITEMS, bool CONSECUTIVE>
const char *coarsening_items(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    scale_items<ITEMS, CONSECUTIVE><<<blocks(size[0], 256 * ITEMS), 256, 0, stream>>>(
        (const float *)in[0], (float *)out[0], size[0]);
    return launched();
}

__global__ void scale_vectors(const float *source, float *target, uint32_t n) {
    uint32_t first = blockIdx.x * 1024 + threadIdx.x;
    if (4 * (first + 768) + 3 < n) {
        float4 values[4];
        #pragma unroll
        for (int item = 0; item < 4; item++) values[item] = ((const float4 *)source)[first + item * 256];
        #pragma unroll
        for (int item = 0; item < 4; item++) {
            float4 v = values[item];
            ((float4 *)target)[first + item * 256] = make_float4(4.0f * v.x, 4.0f * v.y, 4.0f * v.z, 4.0f * v.w);
        }
    } else for (uint32_t item = 0; item < 4; item++)
        for (uint32_t i = 4 * (first + item * 256), end = i + 4; i < end && i < n; i++) target[i] = 4.0f * source[i];
}

const char *coarsening_vectors(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    scale_vectors<<<blocks(size[0], 4096), 256, 0, stream>>>((const float *)in[0], (float *)out[0], size[0]);
    return launched();
}
