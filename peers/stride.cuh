// Peers of `stride`, within the namespace of `peers.cu`.

__global__ void gather(const float *source, float *target, uint32_t n, uint32_t stride) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) target[i] = source[(size_t)i * stride];
}

const char *stride_gather(cudaStream_t stream, void *const *in, void *const *out, const size_t *size) {
    gather<<<blocks(size[0], 256), 256, 0, stream>>>((const float *)in[0], (float *)out[0], size[0], size[1]);
    return launched();
}
