extern "C" __global__ void boss_table(const unsigned *source, const unsigned *table, unsigned *target, unsigned n) {
    unsigned thread = threadIdx.x, i = blockIdx.x * blockDim.x + thread;
    // learn: your code
    __shared__ unsigned own[256];
    own[thread] = table[thread];
    __syncthreads();
    // learn: instead
    //| // TODO
    //| const unsigned *own = table;
    // learn: end
    if (i < n) target[i] = own[source[i] % 256];
}
