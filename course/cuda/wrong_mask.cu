extern "C" __global__ void wrong_mask(const unsigned *source, unsigned *target, unsigned n) {
    // learn: your code
    const unsigned MASK = 0xffffffff;
    // learn: instead
    //| // TODO: which lanes execute the shuffle below?
    //| const unsigned MASK = 0x0000ffff;
    // learn: end
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = i < n ? source[i] : 0;
    for (unsigned delta = 16; delta > 0; delta /= 2) sum += __shfl_down_sync(MASK, sum, delta);
    if (threadIdx.x % 32 == 0 && i < n) target[i / 32] = sum;
}
