// Loops, switches, calls, templates, function pointers, local arrays, structs, printf.
#include <cstdint>
#include <cstdio>
#define INDEX unsigned i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;

extern "C" __global__ void collatz(const unsigned *in, unsigned *out, unsigned n) {
    INDEX unsigned a = in[i] % 1000 + 1, steps = 0;
    while (a != 1) { a = a % 2 ? 3 * a + 1 : a / 2; steps++; }
    out[i] = steps;
}
extern "C" __global__ void switches(const int *in, int *out, unsigned n) {
    INDEX int a = in[i], r = 0;
    switch ((unsigned)a % 9u) {
        case 0: r = a + 1; break;
        case 1: r = a * 3; break;
        case 2: r = a ^ 0x55; break;
        case 3: r = -a; [[fallthrough]];
        case 4: r += 17; break;
        case 5: r = a / 5; break;
        case 6: r = a << 3; break;
        case 7: for (int k = 0; k < (a & 15); k++) r += k * a; break;
        default: r = 99;
    }
    out[i] = r;
}
__device__ __noinline__ int helper(int a, int b) { return a > b ? a * 2 - b : b - a / 3; }
extern "C" __global__ void calls(const int *in, int *out, unsigned n) {
    INDEX int r = helper(in[i], (int)i); if (i & 1) r = helper(r, in[(i + 1) % n]); out[i] = r;
}
struct Vec { float x, y, z; };
__device__ __noinline__ Vec cross(Vec a, Vec b) {
    return { a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}
extern "C" __global__ void struct_calls(const float *in, float *out, unsigned n) {
    INDEX Vec a = { in[i], in[(i + 1) % n], in[(i + 2) % n] }, b = { 1.0f, in[i] * 2.0f, -3.0f };
    Vec c = cross(a, b); out[i] = c.x + c.y - c.z;
}
typedef int (*Function)(int);
__device__ int twice(int a) { return a * 2; }
__device__ int square(int a) { return a * a; }
__device__ int minus(int a) { return -a; }
__device__ Function table[3] = { twice, square, minus };
extern "C" __global__ void function_pointers(const int *in, int *out, unsigned n) {
    INDEX out[i] = table[i % 3](in[i] % 1000);
}
template <int N, typename T> __device__ T polynomial(T x) {
    T sum = 0;
#pragma unroll
    for (int k = N; k >= 0; k--) sum = sum * x + (T)(k * k - 3);
    return sum;
}
extern "C" __global__ void templates(const int *in, int *out, unsigned n) {
    INDEX out[i] = polynomial<7, int>(in[i] % 17) + (int)polynomial<3, int64_t>(in[i]);
}
extern "C" __global__ void local_array(const int *in, int *out, unsigned n) {
    INDEX int stack[32];
    for (int k = 0; k < 32; k++) stack[k] = in[(i + k) % n] * (k + 1);
    int at = i & 31, sum = 0;
    for (int k = 0; k < 20; k++) { sum += stack[at]; at = (at * 5 + 7 + (sum & 3)) & 31; }
    out[i] = sum;
}
__constant__ int weights[16] = { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3 };
extern "C" __global__ void constants(const int *in, int *out, unsigned n) {
    INDEX int sum = 0; for (int k = 0; k < 16; k++) sum += weights[(k + i) & 15] * in[(i + k) % n]; out[i] = sum;
}
struct Arguments { int scale; int64_t offset; short table[6]; };
extern "C" __global__ void by_value(const int *in, int64_t *out, unsigned n, Arguments a) {
    INDEX out[i] = (int64_t)in[i] * a.scale + a.offset + a.table[i % 6];
}
extern "C" __global__ void bubble_sort(const int *in, int *out, unsigned n) {
    INDEX int v[8];
    for (int k = 0; k < 8; k++) v[k] = in[(i * 8 + k) % n];
    for (int a = 0; a < 7; a++) for (int b = 0; b < 7 - a; b++) if (v[b] > v[b + 1]) { int t = v[b]; v[b] = v[b + 1]; v[b + 1] = t; }
    out[i] = v[i % 8] - v[0] + v[7];
}
extern "C" __global__ void mandelbrot(unsigned *out, unsigned n, unsigned width) {
    INDEX float cx = (float)(i % width) * (3.0f / width) - 2.0f, cy = (float)(i / width) * (2.0f / width) - 1.0f, x = 0, y = 0;
    unsigned k = 0;
    while (k < 100) {
        float xx = __fmul_rn(x, x), yy = __fmul_rn(y, y);
        if (__fadd_rn(xx, yy) > 4.0f) break;
        y = __fmaf_rn(__fmul_rn(2.0f, x), y, cy); x = __fadd_rn(__fsub_rn(xx, yy), cx); k++;
    }
    out[i] = k;
}
extern "C" __global__ void print(const int *in, int *out, unsigned n) {
    INDEX if (i % 32 == 0) printf("i %u in %d f %.3f x %08x s %s c %c l %lld\n", i, in[i], in[i] * 0.5, in[i], "text", 'A' + (int)(i / 32 % 26), (long long)in[i] * 1000000007LL);
    out[i] = in[i];
}
__device__ int counter_global = 5;
extern "C" __global__ void global_variable(const int *in, int *out, unsigned n) {
    INDEX if (i == 0) counter_global += 3; out[i] = in[i] ^ 1;
}
extern "C" __global__ void generic_pointer(const int *in, int *out, unsigned n) {
    __shared__ int s[64]; int l[4];
    unsigned t = threadIdx.x; unsigned i = blockIdx.x * blockDim.x + t;
    if (t < 64) s[t] = (int)t * 3; __syncthreads();
    for (int k = 0; k < 4; k++) l[k] = k * 100 + (int)t;
    const volatile int *p = (i % 3 == 0) ? (const volatile int *)&s[i % 64] : (i % 3 == 1) ? (const volatile int *)&in[i % n] : (const volatile int *)&l[i % 4];
    if (i < n) out[i] = *p;
}
