// learn: your code
// answer 1: 4
// answer 2: 2
// learn: instead
//| // TODO: put a number in the place of each question mark, and save.
//| // answer 1: ?
//| // answer 2: ?
// learn: end

extern "C" __global__ void any_order(const float *source, float *target, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned from = (i ^ 31) < n ? i ^ 31 : i;
        target[i] = source[from];
    }
}
