extern "C" __global__ void lost_update(const unsigned *source, unsigned *count, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && source[i] % 2 == 0) {
        // learn: your code
        atomicAdd(count, 1);
        // learn: instead
        //| // TODO: what did the other threads do between the read and the write?
        //| *count += 1;
        // learn: end
    }
}
