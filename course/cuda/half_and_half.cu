extern "C" __global__ void half_and_half(const float *source, float *target, unsigned n, unsigned rounds) {
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned half = (n + 1) / 2;
    // learn: your code
    unsigned i = thread;
    // learn: instead
    //| // TODO: do the lanes of a warp agree at the branch below?
    //| unsigned i = thread % 2 == 0 ? thread / 2 : half + thread / 2;
    // learn: end
    if (i >= n) return;
    float value = source[i];
    if (i < half) {
        for (unsigned round = 0; round < rounds; round++) value = value * 0.5f + 1.0f;
    } else {
        for (unsigned round = 0; round < rounds; round++) value = (value - 3.0f) * 0.25f;
    }
    target[i] = value;
}
