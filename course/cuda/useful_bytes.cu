// learn: your code
// answer 1: 1024
// answer 2: 12.5
// learn: instead
//| // TODO: put a number in the place of each question mark, and save.
//| // answer 1: ?
//| // answer 2: ?
// learn: end

extern "C" __global__ void useful_bytes(const float *source, float *target, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) target[i] = source[8 * i];
}
