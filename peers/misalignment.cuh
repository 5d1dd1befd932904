// Peers of `misalignment`, within the namespace of `peers.cu`.

__global__ void copy_shifted(const float *source, float *target, uint32_t n, uint32_t offset) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) target[i + offset] = source[i + offset];
}

const char *misalignment_shifted(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    copy_shifted<<<blocks(size[0], 256), 256, 0, stream>>>((const float *)in[0], (float *)out[0], size[0], size[1]);
    return launched();
}
