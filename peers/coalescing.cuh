// Peers of `coalescing`, within the namespace of `peers.cu`.

__global__ void copy_words(const float *source, float *target, uint32_t n) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) target[i] = source[i];
}

const char *coalescing_scalar(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    copy_words<<<blocks(size[0], 256), 256, 0, stream>>>((const float *)in[0], (float *)out[0], size[0]);
    return launched();
}

__global__ void copy_quads(const float *source, float *target, uint32_t n) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i + 3 < n) ((float4 *)target)[i] = ((const float4 *)source)[i];
    else for (uint32_t word = 4 * i; word < n; word++) target[word] = source[word];
}

const char *coalescing_vectorized_16(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    copy_quads<<<blocks(size[0], 1024), 256, 0, stream>>>((const float *)in[0], (float *)out[0], size[0]);
    return launched();
}

const char *coalescing_driver(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    TRY(cudaMemcpyAsync(out[0], in[0], 4 * size[0], cudaMemcpyDeviceToDevice, stream));
    return nullptr;
}
