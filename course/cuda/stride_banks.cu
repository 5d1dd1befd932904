// learn: your code
// answer 1: 1
// answer 2: 2
// answer 3: 1
// answer 4: 32
// answer 5: 1
// learn: instead
//| // TODO: put a number in the place of each question mark, and save.
//| // answer 1: ?
//| // answer 2: ?
//| // answer 3: ?
//| // answer 4: ?
//| // answer 5: ?
// learn: end

extern "C" __global__ void stride_banks(unsigned *target, unsigned n, unsigned stride) {
    __shared__ unsigned tile[1056];
    unsigned thread = threadIdx.x, i = blockIdx.x * blockDim.x + thread;
    for (unsigned row = 0; row < 33; row++) tile[32 * row + thread] = 32 * row + thread;
    __syncthreads();
    if (i < n) target[i] = tile[thread * stride];
}
