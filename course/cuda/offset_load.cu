// learn: your code
// answer 1: 4
// answer 2: 5
// answer 3: 4
// learn: instead
//| // TODO: put a number in the place of each question mark, and save.
//| // answer 1: ?
//| // answer 2: ?
//| // answer 3: ?
// learn: end

extern "C" __global__ void offset_load(const float *source, float *target, unsigned n, unsigned offset) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) target[i] = source[i + offset];
}
