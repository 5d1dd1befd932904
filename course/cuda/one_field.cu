extern "C" __global__ void one_field(const float *together, const float *apart, float *target, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    // learn: your code
    float value = apart[3 * n + i];
    // learn: instead
    //| // TODO: how far apart do the addresses of neighbouring lanes lie?
    //| float value = together[7 * i + 3];
    // learn: end
    target[i] = value * value;
}
