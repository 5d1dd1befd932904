extern "C" __global__ void tree(const unsigned *source, unsigned *target, unsigned n) {
    __shared__ unsigned tile[256];
    unsigned thread = threadIdx.x, i = blockIdx.x * blockDim.x + thread;
    tile[thread] = i < n ? source[i] : 0;
    __syncthreads();
    // learn: your code
    for (unsigned half = 128; half > 0; half /= 2) {
        if (thread < half) tile[thread] += tile[thread + half];
        __syncthreads();
    }
    // learn: instead
    //| // TODO: in the third level, which words do lanes 0, 1 and 2 add, and which banks are these?
    //| for (unsigned step = 1; step < 256; step *= 2) {
    //|     unsigned at = 2 * step * thread;
    //|     if (at < 256) tile[at] += tile[at + step];
    //|     __syncthreads();
    //| }
    // learn: end
    if (thread == 0) target[blockIdx.x] = tile[0];
}
