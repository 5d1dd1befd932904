extern "C" __global__ void read_only_lie(unsigned *data, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        data[i] = 3 * i;
        // learn: your code
        unsigned own = data[i];
        // learn: instead
        //| // TODO: what does this load find?
        //| unsigned own = __ldg(&data[i]);
        // learn: end
        data[i] = own + 1;
    }
}
