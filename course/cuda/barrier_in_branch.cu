extern "C" __global__ void barrier_in_branch(const unsigned *source, unsigned *target, unsigned n) {
    __shared__ unsigned tile[256];
    unsigned thread = threadIdx.x, i = blockIdx.x * blockDim.x + thread;
    unsigned mine = i < n ? source[i] : 0;
    // learn: your code
    tile[thread] = thread % 2 == 0 ? mine : mine ^ 1;
    __syncthreads();
    // learn: instead
    //| // TODO: what have the other threads done when a thread reads?
    //| if (thread % 2 == 0) {
    //|     tile[thread] = mine;
    //|     __syncthreads();
    //| } else {
    //|     tile[thread] = mine ^ 1;
    //|     __syncthreads();
    //| }
    // learn: end
    if (i < n) target[i] = mine + tile[(thread + 128) % 256];
}
