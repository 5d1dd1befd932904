// learn: your code
// answer 1: 1024
// answer 2: 2
// learn: instead
//| // TODO: put a number in the place of each question mark, and save.
//| // answer 1: ?
//| // answer 2: ?
// learn: end

extern "C" __global__ void line_or_sector(const float *source, float *target, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) target[i] = source[i * 2654435761u % n];
}
