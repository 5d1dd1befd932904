extern "C" __global__ void guard(const float *source, float *target, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    // learn: your code
    bool has_element = i < n;
    // learn: instead
    //| // TODO: which thread is the first without an element?
    //| bool has_element = i <= n;
    // learn: end
    if (has_element) target[i] = 1.0f - source[i];
}
