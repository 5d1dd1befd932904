// Integer and floating-point arithmetic. Every kernel: out[i] from in[i], n elements.
#include <cstdint>
#define INDEX unsigned i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;

extern "C" __global__ void int_divide(const int *in, int *out, unsigned n) {
    INDEX int a = in[i], b = (int)(i % 37) - 18; if (b == 0) b = 7; out[i] = a / b + 3 * (a % b);
}
extern "C" __global__ void unsigned_divide(const unsigned *in, unsigned *out, unsigned n) {
    INDEX unsigned a = in[i]; out[i] = a / 7u + a % 1000u + (a / (i + 1u));
}
extern "C" __global__ void long_divide(const int64_t *in, int64_t *out, unsigned n) {
    INDEX int64_t a = in[i]; int64_t b = (int64_t)i * 77777777LL - 5; out[i] = a / b + a % b;
}
extern "C" __global__ void multiply_high(const uint32_t *in, uint32_t *out, unsigned n) {
    INDEX uint32_t a = in[i]; out[i] = __umulhi(a, 0x9e3779b9u) ^ (uint32_t)__mulhi((int)a, -12345);
}
extern "C" __global__ void multiply_high64(const uint64_t *in, uint64_t *out, unsigned n) {
    INDEX out[i] = __umul64hi(in[i], 0x9e3779b97f4a7c15ull) + in[i] * 3;
}
extern "C" __global__ void bits(const uint32_t *in, uint32_t *out, unsigned n) {
    INDEX uint32_t a = in[i];
    out[i] = __popc(a) + (__clz(a) << 6) + (__ffs(a) << 12) + (__brev(a) >> 14) + __byte_perm(a, ~a, 0x3175);
}
extern "C" __global__ void bits64(const uint64_t *in, uint64_t *out, unsigned n) {
    INDEX uint64_t a = in[i];
    out[i] = __popcll(a) + ((uint64_t)__clzll(a) << 8) + ((uint64_t)__ffsll(a) << 16) + (__brevll(a) >> 24);
}
extern "C" __global__ void shifts(const uint32_t *in, uint32_t *out, unsigned n) {
    INDEX uint32_t a = in[i]; unsigned s = i & 31;
    out[i] = (a << s) ^ (a >> (31 - s)) ^ (uint32_t)((int)a >> s) ^ __funnelshift_l(a, ~a, i) ^ __funnelshift_r(a, a * 3, i + 7);
}
extern "C" __global__ void rotate64(const uint64_t *in, uint64_t *out, unsigned n) {
    INDEX uint64_t a = in[i]; unsigned s = i & 63; out[i] = (a << s) | (a >> ((64 - s) & 63));
}
extern "C" __global__ void min_max(const int *in, int *out, unsigned n) {
    INDEX int a = in[i]; out[i] = min(max(a, -1000000), 1000000) + abs(a % 1000);
}
extern "C" __global__ void float_ops(const float *in, float *out, unsigned n) {
    INDEX float a = in[i]; out[i] = __fadd_rn(__fmul_rn(a, 1.7f), -0.3f) / (a * a + 1.0f) + sqrtf(fabsf(a));
}
extern "C" __global__ void float_fma(const float *in, float *out, unsigned n) {
    INDEX float a = in[i]; out[i] = fmaf(a, a, fmaf(a, -3.25f, 0.125f));
}
extern "C" __global__ void float_round(const float *in, float *out, unsigned n) {
    INDEX float a = in[i]; out[i] = floorf(a) + 10.0f * ceilf(a) + 100.0f * truncf(a) + 1000.0f * rintf(a);
}
extern "C" __global__ void float_minmax(const float *in, float *out, unsigned n) {
    INDEX float a = in[i]; out[i] = fminf(a, 0.5f) + fmaxf(a, in[(i + 1) % n]);
}
extern "C" __global__ void float_directed(const float *in, float *out, unsigned n) {
    INDEX float a = in[i], b = in[(i + 1) % n];
    out[i] = __fadd_rz(a, b) + 2.0f * __fmul_ru(a, b) + 4.0f * __fdiv_rd(a, b + 100.0f) + 8.0f * __fmaf_rz(a, b, 0.1f);
}
extern "C" __global__ void double_ops(const double *in, double *out, unsigned n) {
    INDEX double a = in[i]; out[i] = fma(a, a, -2.0) / (a * a + 3.0) + sqrt(fabs(a));
}
extern "C" __global__ void double_directed(const double *in, double *out, unsigned n) {
    INDEX double a = in[i]; out[i] = __dadd_rz(a, 0.1) + __dmul_ru(a, 1.1) + __ddiv_rd(a, 3.0);
}
extern "C" __global__ void convert_ints(const int64_t *in, int64_t *out, unsigned n) {
    INDEX int64_t a = in[i];
    out[i] = (int64_t)(int8_t)a + (int64_t)(uint8_t)(a >> 8) * 3 + (int64_t)(int16_t)(a >> 16) * 5 + (int64_t)(int32_t)(a >> 3);
}
extern "C" __global__ void convert_floats(const float *in, int64_t *out, unsigned n) {
    INDEX float a = in[i] * 1000.0f;
    out[i] = (int64_t)a + (int64_t)(int)a * 3 + (int64_t)(unsigned)fabsf(a) + (int64_t)__float2int_rn(a) * 7 + (int64_t)(float)(int64_t)(a * 1e6f);
}
extern "C" __global__ void bytes(const uint8_t *in, uint8_t *out, unsigned n) {
    INDEX out[i] = (uint8_t)(in[i] * 3 + (in[(i + 1) % n] >> 2));
}
extern "C" __global__ void shorts(const int16_t *in, int16_t *out, unsigned n) {
    INDEX out[i] = (int16_t)(in[i] * 7 - in[(i + 5) % n] / 3);
}
extern "C" __global__ void dot4(const int *in, int *out, unsigned n) {
    INDEX out[i] = __dp4a(in[i], in[(i + 1) % n], (int)i);
}
