// learn: your code
// answer 1: 4
// answer 2: 8
// answer 3: 32
// answer 4: 32
// learn: instead
//| // TODO: put a number in the place of each question mark, and save.
//| // answer 1: ?
//| // answer 2: ?
//| // answer 3: ?
//| // answer 4: ?
// learn: end

extern "C" __global__ void first_warp(const float *source, float *target, unsigned n, unsigned stride) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) target[i] = source[i * stride];
}
