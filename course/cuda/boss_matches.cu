extern "C" __global__ void boss_matches(const float *source, unsigned *target, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    bool is_match = i < n && source[i] > 0.0f;
    // learn: your code
    unsigned count = __syncthreads_count(is_match);
    // learn: instead
    //| // TODO
    //| __shared__ unsigned counter;
    //| if (threadIdx.x == 0) counter = 0;
    //| __syncthreads();
    //| if (is_match) atomicAdd(&counter, 1);
    //| __syncthreads();
    //| unsigned count = counter;
    // learn: end
    if (threadIdx.x == 0) target[blockIdx.x] = count;
}
