extern "C" __global__ void two_writers(const unsigned *source, unsigned *target, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned value = source[i];
        // learn: your code
        bool is_mine = i % 8 == 7 || i + 1 == n;
        // learn: instead
        //| // TODO: which lane has the last number of its group?
        //| bool is_mine = true;
        // learn: end
        if (is_mine) target[i / 8] = value;
    }
}
