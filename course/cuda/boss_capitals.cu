__device__ unsigned char capital(unsigned char letter) {
    return letter >= 'a' && letter <= 'z' ? letter - 32 : letter;
}

extern "C" __global__ void boss_capitals(const unsigned char *source, unsigned char *target, unsigned n) {
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    // learn: your code
    unsigned first = 4 * thread;
    if (first + 4 <= n) {
        uchar4 four = *reinterpret_cast<const uchar4 *>(source + first);
        *reinterpret_cast<uchar4 *>(target + first) =
            make_uchar4(capital(four.x), capital(four.y), capital(four.z), capital(four.w));
    } else {
        for (unsigned i = first; i < n; i++) target[i] = capital(source[i]);
    }
    // learn: instead
    //| // TODO
    //| unsigned threads = gridDim.x * blockDim.x;
    //| for (unsigned i = thread; i < n; i += threads) target[i] = capital(source[i]);
    // learn: end
}
