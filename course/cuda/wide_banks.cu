// learn: your code
// answer 1: 4
// answer 2: 0
// learn: instead
//| // TODO: put a number in the place of each question mark, and save.
//| // answer 1: ?
//| // answer 2: ?
// learn: end

extern "C" __global__ void wide_banks(float *target, unsigned n) {
    __shared__ float4 tile[32];
    unsigned thread = threadIdx.x, i = blockIdx.x * blockDim.x + thread;
    float own = static_cast<float>(thread);
    tile[thread] = make_float4(own, own, own, own);
    __syncthreads();
    float4 other = tile[31 - thread];
    if (i < n) target[i] = other.x + other.y + other.z + other.w;
}
