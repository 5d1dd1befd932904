extern "C" __global__ void lockstep(const unsigned *source, unsigned *target, unsigned n) {
    __shared__ unsigned tile[256];
    unsigned thread = threadIdx.x, i = blockIdx.x * blockDim.x + thread;
    tile[thread] = i < n ? source[i] : 0;
    __syncthreads();
    for (unsigned half = 128; half >= 32; half /= 2) {
        if (thread < half) tile[thread] += tile[thread + half];
        __syncthreads();
    }
    if (thread < 32) {
        for (unsigned half = 16; half > 0; half /= 2) {
            unsigned sum = tile[thread] + tile[thread + half];
            // learn: your code
            __syncwarp();
            tile[thread] = sum;
            __syncwarp();
            // learn: instead
            //| // TODO: lane 0 reads a word that lane 16 writes. Which comes first?
            //| tile[thread] = sum;
            // learn: end
        }
    }
    if (thread == 0) target[blockIdx.x] = tile[0];
}
