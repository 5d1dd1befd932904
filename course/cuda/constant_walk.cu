// 1, 2, 4, .. 128, four times.
// learn: your code
__device__ const float FACTORS[32] = {
// learn: instead
//| // TODO: how many different words do the lanes of a warp want at once?
//| __constant__ float FACTORS[32] = {
// learn: end
    1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128,
    1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128,
};

extern "C" __global__ void constant_walk(const float *source, float *target, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) target[i] = FACTORS[i % 32] * source[i];
}
