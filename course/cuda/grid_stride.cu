extern "C" __global__ void grid_stride(const float *x, const float *y, float *target, unsigned n) {
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned threads = gridDim.x * blockDim.x;
    // learn: your code
    unsigned first = thread, end = n, step = threads;
    // learn: instead
    //| // TODO: in the first turn of the loop, which elements do lanes 0, 1 and 2 load?
    //| unsigned run = (n + threads - 1) / threads;
    //| unsigned first = thread * run, step = 1;
    //| unsigned end = first + run < n ? first + run : n;
    // learn: end
    for (unsigned i = first; i < end; i += step) target[i] = 3.0f * x[i] + y[i];
}
