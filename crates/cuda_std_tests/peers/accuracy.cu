// What `src/kernels/accuracy.rs` measures, of CUDA's own functions: compiled by `nvcc -ptx`.

static __device__ unsigned place(float number) {
    unsigned bits = __float_as_uint(number);
    return bits >> 31 ? ~bits + 1 : bits | 1u << 31;
}

static __device__ unsigned distance(float one, float other) {
    if (isnan(one) || isnan(other)) {
        return isnan(one) && isnan(other) ? 0 : 0xffffffff;
    }
    unsigned a = place(one), b = place(other);
    return a > b ? a - b : b - a;
}

#define ACCURACY(name, single, reference)                                                                              \
    extern "C" __global__ void accuracy_##name(unsigned step, unsigned long long count, unsigned long long *worst) {   \
        unsigned long long threads = (unsigned long long)gridDim.x * blockDim.x;                                       \
        unsigned long long found = 0;                                                                                  \
        for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {                  \
            unsigned bits = (unsigned)i * step;                                                                        \
            float x = __uint_as_float(bits);                                                                           \
            unsigned long long here = distance(single(x), (float)reference((double)x));                                \
            here = here << 32 | bits;                                                                                  \
            found = here > found ? here : found;                                                                       \
        }                                                                                                              \
        atomicMax(worst, found);                                                                                       \
    }

#define PAIR(name) ACCURACY(name##f, name##f, name)

PAIR(acos) PAIR(acosh) PAIR(asin) PAIR(asinh) PAIR(atan) PAIR(atanh) PAIR(cbrt) PAIR(cos) PAIR(cosh) PAIR(cospi)
PAIR(erf) PAIR(erfc) PAIR(erfcinv) PAIR(erfcx) PAIR(erfinv) PAIR(exp) PAIR(exp10) PAIR(exp2) PAIR(expm1)
PAIR(j0) PAIR(j1) PAIR(lgamma) PAIR(log) PAIR(log10) PAIR(log1p) PAIR(log2) PAIR(normcdf) PAIR(normcdfinv)
PAIR(rcbrt) PAIR(rsqrt) ACCURACY(frsqrt_rn, __frsqrt_rn, rsqrt) PAIR(sin) PAIR(sinh) PAIR(sinpi) PAIR(tan) PAIR(tanh)
PAIR(tgamma) PAIR(y0) PAIR(y1)
