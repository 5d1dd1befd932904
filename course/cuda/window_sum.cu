extern "C" __global__ void window_sum(const unsigned *source, unsigned *target, unsigned n) {
    unsigned thread = threadIdx.x, i = blockIdx.x * blockDim.x + thread;
    unsigned sum = 0;
    // learn: your code
    __shared__ unsigned tile[264];
    for (unsigned word = thread; word < 264; word += 256) {
        // Numbers before the first wrap around and are not below n.
        unsigned from = i - thread + word - 4;
        tile[word] = from < n ? source[from] : 0;
    }
    __syncthreads();
    for (unsigned word = 0; word < 9; word++) sum += tile[thread + word];
    // learn: instead
    //| // TODO: how often is each number loaded?
    //| for (unsigned word = 0; word < 9; word++) {
    //|     unsigned from = i + word - 4;
    //|     if (from < n) sum += source[from];
    //| }
    // learn: end
    if (i < n) target[i] = sum;
}
