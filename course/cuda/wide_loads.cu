extern "C" __global__ void wide_loads(const float *source, float *target, unsigned n) {
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    // learn: your code
    unsigned first = 4 * thread;
    if (first + 4 <= n) {
        float4 four = *reinterpret_cast<const float4 *>(source + first);
        four = make_float4(four.x + 1.0f, four.y + 1.0f, four.z + 1.0f, four.w + 1.0f);
        *reinterpret_cast<float4 *>(target + first) = four;
    } else {
        for (unsigned i = first; i < n; i++) target[i] = source[i] + 1.0f;
    }
    // learn: instead
    //| // TODO: four loads of 4 bytes, which one load of 16 bytes could bring.
    //| unsigned threads = gridDim.x * blockDim.x;
    //| for (unsigned i = thread; i < n; i += threads) target[i] = source[i] + 1.0f;
    // learn: end
}
