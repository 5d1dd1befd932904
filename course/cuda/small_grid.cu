extern "C" __global__ void small_grid(const float *source, float *target, unsigned n) {
    unsigned threads = gridDim.x * blockDim.x;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    // learn: your code
    while (i < n) {
        target[i] = 2.0f * source[i];
        i += threads;
    }
    // learn: instead
    //| // TODO: who takes the elements from `threads` on?
    //| if (i < n) {
    //|     target[i] = 2.0f * source[i];
    //|     i += threads;
    //| }
    // learn: end
}
