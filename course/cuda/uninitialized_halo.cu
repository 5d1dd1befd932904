extern "C" __global__ void uninitialized_halo(const float *source, float *target, unsigned n) {
    __shared__ float tile[258];
    unsigned thread = threadIdx.x, i = blockIdx.x * blockDim.x + thread;
    tile[thread + 1] = i < n ? source[i] : 0.0f;
    // learn: your code
    if (thread == 0) tile[0] = i > 0 ? source[i - 1] : 0.0f;
    // learn: instead
    //| // TODO: what does word 0 of the tile hold in the first block?
    //| if (thread == 0 && i > 0) tile[0] = source[i - 1];
    // learn: end
    if (thread == 255) tile[257] = i + 1 < n ? source[i + 1] : 0.0f;
    __syncthreads();
    if (i < n) target[i] = tile[thread] + tile[thread + 2];
}
